// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package preflight

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apiserver/pkg/registry/rest"
	"k8s.io/apiserver/pkg/warning"
	"k8s.io/utils/ptr"

	v1 "statefulset.dev/api/apps/v1"
	"statefulset.dev/registry/statefulset/settest"
)

// answeringHost answers as it is told, and remembers what it was asked.
type answeringHost struct {
	answer func(runtime.Object) Answer

	mu    sync.Mutex
	tried []runtime.Object
}

func (h *answeringHost) TryCreate(_ context.Context, object runtime.Object) Answer {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.tried = append(h.tried, object)
	return h.answer(object)
}

// kinds are the kinds that were tried since the last call.
func (h *answeringHost) kinds() []string {
	h.mu.Lock()
	defer h.mu.Unlock()
	var kinds []string
	for _, object := range h.tried {
		switch object.(type) {
		case *corev1.PodTemplate:
			kinds = append(kinds, "PodTemplate")
		case *corev1.Pod:
			kinds = append(kinds, "Pod")
		case *corev1.PersistentVolumeClaim:
			kinds = append(kinds, "PersistentVolumeClaim")
		case *unstructured.Unstructured:
			kinds = append(kinds, object.GetObjectKind().GroupVersionKind().Kind)
		}
	}
	h.tried = nil
	slices.Sort(kinds)
	return kinds
}

func willing() *answeringHost {
	return &answeringHost{answer: func(runtime.Object) Answer { return Answer{} }}
}

// warningsOf gives a context whose warnings are kept.
func warningsOf(ctx context.Context) (context.Context, *heard) {
	texts := &heard{}
	return warning.WithWarningRecorder(ctx, texts), texts
}

type heard struct{ texts []string }

func (h *heard) AddWarning(_, text string) { h.texts = append(h.texts, text) }

func TestWhatIsTried(t *testing.T) {
	claims := []string{"PersistentVolumeClaim"}
	template := []string{"Pod", "PodTemplate"}
	tests := map[string]struct {
		change func(*v1.StatefulSet)
		want   []string
	}{
		"nothing for a change of replicas": {settest.Spec(func(s *v1.StatefulSetSpec) { s.Replicas = ptr.To[int32](9) }), nil},
		"nothing for a change of labels":   {func(set *v1.StatefulSet) { set.Labels = map[string]string{"a": "c"} }, nil},
		"nothing for a change of status":   {func(set *v1.StatefulSet) { set.Status.Replicas = 9 }, nil},
		"the template for another image":   {settest.Pod(func(p *corev1.PodSpec) { p.Containers[0].Image = "nginx:2" }), template},
		"the template for another label": {
			func(set *v1.StatefulSet) { set.Spec.Template.Labels = map[string]string{"app": "web", "a": "b"} }, template},
		"the claims for another size": {settest.Claim(func(c *corev1.PersistentVolumeClaim) { c.Spec.AccessModes = nil }), claims},
		"all for both": {func(set *v1.StatefulSet) {
			set.Spec.Template.Labels = nil
			set.Spec.VolumeClaimTemplates[0].Name = "b"
		}, append(claims, template...)},
		"the pods of an override that was added": {settest.Spec(func(s *v1.StatefulSetSpec) { s.Overrides = overrides(1) }), template},
		"the pods of overrides that differ, once": {settest.Spec(func(s *v1.StatefulSetSpec) {
			s.Overrides = append(overrides(2), overrides(1)...)
		}), append(template, template...)},
		"nothing for an override that says nothing about pods": {settest.Spec(func(s *v1.StatefulSetSpec) {
			s.Overrides = overrides(1)
			s.Overrides[0].NodeSelector = nil
		}), nil},
		"nothing for a quantity respelled": {
			settest.Claim(func(c *corev1.PersistentVolumeClaim) { c.Spec.Resources = settest.ClaimTemplate("x").Spec.Resources }), nil},
		"nothing for an empty list for nil": {settest.Pod(func(p *corev1.PodSpec) { p.Tolerations = []corev1.Toleration{} }), nil},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			host := willing()
			admit := Preflight{Host: host}.AfterUpdate(rest.ValidateAllObjectUpdateFunc)
			if err := admit(t.Context(), settest.Changed(test.change), settest.Valid()); err != nil {
				t.Fatalf("got %v, want no error", err)
			}
			want := slices.Sorted(slices.Values(test.want))
			if got := host.kinds(); !slices.Equal(got, want) {
				t.Errorf("tried on the host: got %q, want %q", got, want)
			}
		})
	}
}

func TestAtMostSixteenObjectsAreTriedForARequest(t *testing.T) {
	for name, c := range map[string]struct {
		set      *v1.StatefulSet
		update   bool
		tried    int
		warnings []string
	}{
		"fourteen claims beside the template and its pod": {settest.ManyClaims(14, true), false, 16, nil},
		"one claim too many": {settest.ManyClaims(15, true), false, 16, []string{
			"spec.volumeClaimTemplates[14]: not checked: for one request at most 16 objects are tried on the host cluster"}},
		"as many claims as a body may have": {settest.ManyClaims(11_000, true), false, 16, []string{
			"spec.volumeClaimTemplates[14]: not checked, nor 10985 other claim templates up to spec.volumeClaimTemplates[10999]: for one request at most 16 objects are tried on the host cluster"}},
		"as many claims in an update, whose template stays": {settest.ManyClaims(11_000, true), true, 16, []string{
			"spec.volumeClaimTemplates[16]: not checked, nor 10983 other claim templates up to spec.volumeClaimTemplates[10999]: for one request at most 16 objects are tried on the host cluster"}},
		"claims that differ in their name are tried once": {settest.ManyClaims(11_000, false), false, 3, nil},
	} {
		t.Run(name, func(t *testing.T) {
			host := willing()
			ctx, warnings := warningsOf(t.Context())
			var err error
			if c.update {
				err = Preflight{Host: host}.AfterUpdate(rest.ValidateAllObjectUpdateFunc)(ctx, c.set, settest.Valid())
			} else {
				err = Preflight{Host: host}.AfterCreate(rest.ValidateAllObjectFunc)(ctx, c.set)
			}
			if got := len(host.kinds()); err != nil || got != c.tried {
				t.Errorf("got %d objects tried and error %v, want %d and none", got, err, c.tried)
			}
			if !slices.Equal(warnings.texts, c.warnings) {
				t.Errorf("warnings: got %q, want %q", warnings.texts, c.warnings)
			}
		})
	}
}

func TestTwinsOfAnInvalidClaimAreComplainedOf(t *testing.T) {
	host := refusing(&corev1.PersistentVolumeClaim{}, invalidAt("spec.volumeName"))
	err := Preflight{Host: host}.AfterCreate(rest.ValidateAllObjectFunc)(t.Context(), settest.ManyClaims(11_000, false))
	got := settest.Causes(t, err)
	if want := `spec.volumeClaimTemplates[2].spec.volumeName: Invalid value: "x": must be better`; len(got) != 1+mostTwins || got[2] != want {
		t.Errorf("got %d complaints %q, want %d, the third being %q", len(got), got, 1+mostTwins, want)
	}
}

func TestWhatAdmissionRefusesIsNotTried(t *testing.T) {
	host, refusal := willing(), errors.New("quota exceeded")
	create := Preflight{Host: host}.AfterCreate(func(context.Context, runtime.Object) error { return refusal })
	update := Preflight{Host: host}.AfterUpdate(func(context.Context, runtime.Object, runtime.Object) error { return refusal })
	if err := create(t.Context(), settest.Valid()); !errors.Is(err, refusal) {
		t.Errorf("create: got %v, want %v", err, refusal)
	}
	if err := update(t.Context(), settest.Changed(settest.Pod(func(p *corev1.PodSpec) { p.Containers[0].Image = "nginx:2" })),
		settest.Valid()); !errors.Is(err, refusal) {
		t.Errorf("update: got %v, want %v", err, refusal)
	}
	if got := host.kinds(); len(got) > 0 {
		t.Errorf("tried %q for what admission refuses, want nothing", got)
	}
}

func TestAdmissionMayAskForTheTrialsBeforeItCharges(t *testing.T) {
	host := refusing(&corev1.PodTemplate{}, invalidAt("template.spec.dnsPolicy"))
	charged := false
	create := Preflight{Host: host}.AfterCreate(func(ctx context.Context, _ runtime.Object) error {
		try, ok := TrialsOf(ctx)
		if !ok {
			t.Fatal("the request has no trials, want some")
		}
		if err := try(); err != nil {
			return err
		}
		charged = true
		return nil
	})
	if err := create(t.Context(), settest.Valid()); err == nil || charged || len(host.kinds()) != 3 {
		t.Errorf("got error %v and charged %t, want that the set is invalid, was tried once, and not charged for", err, charged)
	}
}

func TestTheStoreMayRepeatAnUpdate(t *testing.T) {
	host := willing()
	admit := Preflight{Host: host}.AfterUpdate(rest.ValidateAllObjectUpdateFunc)
	change := func(image string) *v1.StatefulSet {
		return settest.Changed(settest.Pod(func(p *corev1.PodSpec) { p.Containers[0].Image = image }))
	}
	for _, step := range []struct {
		image string
		tried int
	}{{"nginx:2", 2}, {"nginx:2", 0}, {"nginx:3", 2}} {
		if err := admit(t.Context(), change(step.image), settest.Valid()); err != nil {
			t.Fatalf("image %s: got %v, want no error", step.image, err)
		}
		if got := host.kinds(); len(got) != step.tried {
			t.Errorf("image %s: tried %q, want %d objects", step.image, got, step.tried)
		}
	}
}

func TestANewSetIsTriedAsItsFirstMember(t *testing.T) {
	host := willing()
	set := settest.Changed(settest.Spec(func(s *v1.StatefulSetSpec) { s.Ordinals = &v1.StatefulSetOrdinals{Start: 4} }))
	if err := (Preflight{Host: host}).AfterCreate(rest.ValidateAllObjectFunc)(t.Context(), set); err != nil {
		t.Fatalf("got %v, want no error", err)
	}
	for _, object := range host.tried {
		meta := object.(metav1.Object)
		if meta.GetName() != "" || meta.GetGenerateName() == "" || meta.GetNamespace() != metav1.NamespaceDefault {
			t.Errorf("%T: got name %q, generateName %q, namespace %q; want a generated name in the set's namespace", object, meta.GetName(),
				meta.GetGenerateName(), meta.GetNamespace())
		}
		if pod, ok := object.(*corev1.Pod); ok &&
			(pod.Spec.Hostname != "web-4" || pod.Spec.Volumes[0].PersistentVolumeClaim.ClaimName != "www-web-4") {
			t.Errorf("pod: got hostname %q and volumes %+v, want those of member 4", pod.Spec.Hostname, pod.Spec.Volumes)
		}
	}
	if got := len(host.tried); got != 3 {
		t.Errorf("tried %d objects, want 3: the template, a pod and its claim", got)
	}
}

func TestWithoutAHostNothingIsTried(t *testing.T) {
	if err := (Preflight{}).AfterCreate(rest.ValidateAllObjectFunc)(t.Context(), settest.Valid()); err != nil {
		t.Errorf("create: got %v, want no error", err)
	}
	if err := (Preflight{}).AfterUpdate(rest.ValidateAllObjectUpdateFunc)(t.Context(), settest.Valid(), settest.Valid()); err != nil {
		t.Errorf("update: got %v, want no error", err)
	}
}
