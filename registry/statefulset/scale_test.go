// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package statefulset

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	autoscalingv1 "k8s.io/api/autoscaling/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apiserver/pkg/registry/rest"

	v1 "statefulset.dev/api/apps/v1"
	"statefulset.dev/registry/statefulset/settest"
)

// rescale changes a Scale the way a patch does: starting from what is stored.
func rescale(s Storage, name string, change func(*autoscalingv1.Scale)) (*autoscalingv1.Scale, error) {
	info := rest.DefaultUpdatedObjectInfo(nil, func(_ context.Context, _, old runtime.Object) (runtime.Object, error) {
		scale := old.DeepCopyObject().(*autoscalingv1.Scale)
		change(scale)
		return scale, nil
	})
	obj, _, err := s.Scale.Update(s.requestFor("scale"), name, info,
		rest.ValidateAllObjectFunc, rest.ValidateAllObjectUpdateFunc, true, &metav1.UpdateOptions{})
	if err != nil {
		return nil, err
	}
	return obj.(*autoscalingv1.Scale), nil
}

func TestAScaleShowsItsSet(t *testing.T) {
	s := newTestStorage(t)
	set := create(t, s, settest.Valid())
	obj, err := s.Scale.Get(s.requestFor("scale"), set.Name, &metav1.GetOptions{})
	if err != nil {
		t.Fatalf("getting the scale: %v", err)
	}
	want := &autoscalingv1.Scale{
		ObjectMeta: metav1.ObjectMeta{
			Name: set.Name, Namespace: set.Namespace, UID: set.UID,
			ResourceVersion: set.ResourceVersion, CreationTimestamp: set.CreationTimestamp,
		},
		Spec:   autoscalingv1.ScaleSpec{Replicas: 3},
		Status: autoscalingv1.ScaleStatus{Selector: "app=web"},
	}
	if got, want := asJSON(t, obj), asJSON(t, want); got != want {
		t.Errorf("scale:\n got %s\nwant %s", got, want)
	}
}

func TestScalingChangesTheSpecAndItsGeneration(t *testing.T) {
	s := newTestStorage(t)
	create(t, s, settest.Valid())
	scale, err := rescale(s, "web", func(scale *autoscalingv1.Scale) { scale.Spec.Replicas = 0 })
	if err != nil {
		t.Fatalf("scaling: %v", err)
	}
	if scale.Spec.Replicas != 0 {
		t.Errorf("replicas of the scale: got %d, want 0", scale.Spec.Replicas)
	}
	set := storedSet(t, s)
	if *set.Spec.Replicas != 0 || set.Generation != 2 {
		t.Errorf("replicas and generation of the set: got %d and %d, want 0 and 2", *set.Spec.Replicas, set.Generation)
	}
}

func TestScalingIsRefused(t *testing.T) {
	tests := map[string]struct {
		name   string
		change func(*autoscalingv1.Scale)
		want   string
	}{
		"to fewer than no replicas": {
			name:   "web",
			change: func(scale *autoscalingv1.Scale) { scale.Spec.Replicas = -1 },
			want:   `Scale.autoscaling "web" is invalid: spec.replicas: Invalid value: -1: must be greater than or equal to 0`,
		},
		"of a set that was changed since it was read": {
			name:   "web",
			change: func(scale *autoscalingv1.Scale) { scale.ResourceVersion = "1" },
			want:   "the object has been modified",
		},
		"of another set of the same name": {
			name:   "web",
			change: func(scale *autoscalingv1.Scale) { scale.UID = "other" },
			want:   "the request is for the set with UID other",
		},
		"of a set that does not exist": {
			name:   "nope",
			change: func(*autoscalingv1.Scale) {},
			want:   `statefulsets.apps.statefulset.dev "nope" not found`,
		},
	}
	s := newTestStorage(t)
	create(t, s, settest.Valid())
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			_, err := rescale(s, test.name, test.change)
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("got %v, want an error with %q", err, test.want)
			}
		})
	}
	if got := *storedSet(t, s).Spec.Replicas; got != 3 {
		t.Errorf("replicas afterwards: got %d, want 3 as before", got)
	}
}

func storedSet(t *testing.T, s Storage) *v1.StatefulSet {
	t.Helper()
	obj, err := s.StatefulSet.Get(s.requestFor(""), "web", &metav1.GetOptions{})
	if err != nil {
		t.Fatalf("getting the set: %v", err)
	}
	return obj.(*v1.StatefulSet)
}

func asJSON(t *testing.T, obj any) string {
	t.Helper()
	text, err := json.Marshal(obj)
	if err != nil {
		t.Fatalf("encoding %T: %v", obj, err)
	}
	return string(text)
}
