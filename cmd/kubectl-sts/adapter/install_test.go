// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package adapter

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/apimachinery/pkg/util/strategicpatch"
	clientscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/kubectl/pkg/polymorphichelpers"
	"k8s.io/kubectl/pkg/scheme"
	"k8s.io/utils/ptr"

	v1 "statefulset.dev/api/apps/v1"
)

func TestMain(m *testing.M) {
	Install()
	os.Exit(m.Run())
}

func newSet() *v1.StatefulSet {
	set := &v1.StatefulSet{Spec: v1.StatefulSetSpec{
		ProgressDeadlineSeconds: ptr.To[int32](5),
		Template: corev1.PodTemplateSpec{
			Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "main", Image: "example.test/main:1"}}}},
	}}
	set.SetName("db")
	set.SetGroupVersionKind(v1.GroupVersionKind())
	return set
}

func TestBothSchemesDecodeOurKind(t *testing.T) {
	document, err := json.Marshal(newSet())
	if err != nil {
		t.Fatal(err)
	}
	for name, decode := range map[string]func([]byte) (runtime.Object, error){
		"kubectl's": func(d []byte) (runtime.Object, error) {
			return runtime.Decode(scheme.Codecs.UniversalDecoder(scheme.Scheme.PrioritizedVersionsAllGroups()...), d)
		},
		"client-go's": func(d []byte) (runtime.Object, error) {
			return runtime.Decode(clientscheme.Codecs.UniversalDeserializer(), d)
		},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := decode(document)
			set, ok := got.(*v1.StatefulSet)
			if err != nil || !ok || set.GroupVersionKind() != v1.GroupVersionKind() {
				t.Errorf("got %T %v, %v, want a StatefulSet of %s", got, got, err, v1.SchemeGroupVersion)
			}
		})
	}
}

func TestSetCommandsChangeTheTemplate(t *testing.T) {
	set := newSet()
	supported, err := polymorphichelpers.UpdatePodSpecForObjectFn(set, func(spec *corev1.PodSpec) error {
		spec.Containers[0].Image = "example.test/main:2"
		return nil
	})
	if got := set.Spec.Template.Spec.Containers[0].Image; !supported || err != nil || got != "example.test/main:2" {
		t.Errorf("got %v, %v and image %s, want the image changed", supported, err, got)
	}
}

// The patch that rollout restart sends is the difference of the set before and after: it must not take fields away.
func TestRestartOnlyMarksTheTemplate(t *testing.T) {
	set := newSet()
	set.Spec.Template.Annotations = map[string]string{"kept": "yes"}
	before, err := runtime.Encode(scheme.DefaultJSONEncoder(), set)
	if err != nil {
		t.Fatalf("encoding: %v", err)
	}
	after, err := polymorphichelpers.ObjectRestarterFn(set)
	if err != nil {
		t.Fatalf("restarting: %v", err)
	}
	patch, err := strategicpatch.CreateTwoWayMergePatch(before, after, set)
	if err != nil {
		t.Fatalf("comparing: %v", err)
	}
	if got, want := string(patch), `{"spec":{"template":{"metadata":{"annotations":{"kubectl.kubernetes.io/restartedAt":"`; !strings.HasPrefix(
		got, want) || strings.Contains(got, "null") {
		t.Errorf("the patch is %s, want it to begin with %s and to remove nothing", got, want)
	}
}

// The patch must take no other field away, and leave no block that the server would fill in.
func TestPauseAndResumeChangeNothingElse(t *testing.T) {
	two := intstr.FromInt32(2)
	block := func(rolling *v1.RollingUpdateStatefulSetStrategy) v1.StatefulSetUpdateStrategy {
		return v1.StatefulSetUpdateStrategy{Type: v1.RollingUpdateStatefulSetStrategyType, RollingUpdate: rolling}
	}
	pause, resume := polymorphichelpers.ObjectPauserFn, polymorphichelpers.ObjectPauserFunc(polymorphichelpers.ObjectResumerFn)
	for sentence, test := range map[string]struct {
		strategy v1.StatefulSetUpdateStrategy
		change   polymorphichelpers.ObjectPauserFunc
		want     string
	}{
		"a set without a block gets one": {block(nil), pause, `{"spec":{"updateStrategy":{"rollingUpdate":{"paused":true}}}}`},
		"and loses it again": {
			block(&v1.RollingUpdateStatefulSetStrategy{Paused: new(true)}), resume, `{"spec":{"updateStrategy":{"rollingUpdate":null}}}`},
		"one with a block keeps the rest": {block(&v1.RollingUpdateStatefulSetStrategy{MaxUnavailable: &two}), pause,
			`{"spec":{"updateStrategy":{"rollingUpdate":{"paused":true}}}}`},
		"and afterwards, too": {block(&v1.RollingUpdateStatefulSetStrategy{MaxUnavailable: &two, Paused: new(true)}), resume,
			`{"spec":{"updateStrategy":{"rollingUpdate":{"paused":null}}}}`},
		"one that is paused is not paused again": {block(&v1.RollingUpdateStatefulSetStrategy{Paused: new(true)}), pause, "is already paused"},
		"one that is not paused is not resumed":  {block(nil), resume, "is not paused"},
		"one of another strategy has no updates to pause": {v1.StatefulSetUpdateStrategy{Type: v1.OnDeleteStatefulSetStrategyType}, pause,
			"only updates of the strategy RollingUpdate can be paused, but the strategy is OnDelete"},
	} {
		t.Run(sentence, func(t *testing.T) {
			set := newSet()
			set.Spec.UpdateStrategy = test.strategy
			before, err := runtime.Encode(scheme.DefaultJSONEncoder(), set)
			if err != nil {
				t.Fatalf("encoding: %v", err)
			}
			after, err := test.change(set)
			got := fmt.Sprint(err)
			if err == nil {
				patch, err := strategicpatch.CreateTwoWayMergePatch(before, after, set)
				if err != nil {
					t.Fatalf("comparing: %v", err)
				}
				got = string(patch)
			}
			if got != test.want {
				t.Errorf("got %s, want %s", got, test.want)
			}
		})
	}
}

func TestExposeIsRefusedAsForAppsV1(t *testing.T) {
	if err := polymorphichelpers.CanBeExposedFn(ours()); err == nil || err.Error() != "cannot expose a StatefulSet.apps.statefulset.dev" {
		t.Errorf("exposing: got %v, want a refusal that names our kind", err)
	}
}
