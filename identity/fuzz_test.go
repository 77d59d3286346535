// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package identity

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "statefulset.dev/api/apps/v1"
)

// FuzzPodName: a name is understood as a set and an ordinal exactly if it is the
// name of that member.
func FuzzPodName(f *testing.F) {
	for _, name := range []string{"web-0", "web", "a-b-12", "-1", "web-", "web-01", "web-2147483648", "web--1", "web-+1", "web-٣"} {
		f.Add(name, 3)
	}
	f.Fuzz(func(t *testing.T, name string, number int) {
		if set, ordinal, ok := ParsePodName(name); ok {
			if got := PodName(set, ordinal); got != name || ordinal < 0 {
				t.Fatalf("pod name of what %q was understood as (%q, %d): got %q", name, set, ordinal, got)
			}
		}
		number &= 1<<31 - 1 // what an ordinal can be
		if set, ordinal, ok := ParsePodName(PodName(name, number)); !ok || set != name || ordinal != number {
			t.Fatalf("pod name of (%q, %d): got back (%q, %d, %t)", name, number, set, ordinal, ok)
		}
	})
}

// FuzzMember: the pod and the claims of a member can be made from any set, belong
// together, carry the member's identity, and the set is not changed by it.
func FuzzMember(f *testing.F) {
	for _, set := range seedSets() {
		message, err := set.Marshal()
		if err != nil {
			f.Fatalf("encoding a seed: %v", err)
		}
		f.Add(message, int32(0))
	}
	f.Fuzz(func(t *testing.T, message []byte, number int32) {
		var set v1.StatefulSet
		if set.Unmarshal(message) != nil {
			return
		}
		before, ordinal := set.DeepCopy(), int(number&(1<<31-1))
		if _, wrong := OverridesOf(&set).Pod(SourceOf(&set), "revision", ordinal); wrong != nil && wrong.Detail == "" {
			t.Fatalf("what cannot be rendered has no reason: %+v", wrong)
		}
		claims := Claims(&set, ordinal)
		pod := Pod(&set, &set.Spec.Template, "revision", ordinal)
		if !equality.Semantic.DeepEqual(before, &set) {
			t.Fatalf("set after making a member:\n got %+v\nwant %+v", &set, before)
		}
		if name, n, ok := ParsePodName(pod.Name); !ok || name != set.Name || n != ordinal {
			t.Fatalf("pod name of (%q, %d): got %q", set.Name, ordinal, pod.Name)
		}
		for i := range claims {
			template, n, ok := ParseClaimName(claims[i].Name, set.Name, set.Spec.VolumeClaimTemplates)
			if want := set.Spec.VolumeClaimTemplates[i].Name; !ok || template != want || n != ordinal {
				t.Fatalf("claim name %q: got template %q, ordinal %d, %t; want %q, %d", claims[i].Name, template, n, ok, want, ordinal)
			}
		}
		if !metav1.IsControlledBy(pod, &set) {
			t.Fatalf("owner of the pod: got %+v, want the set %q", pod.OwnerReferences, set.UID)
		}
		if len(claims) != len(set.Spec.VolumeClaimTemplates) || !MountsClaims(&set, ordinal, pod) {
			t.Fatalf("claims: got %d, mounted by the pod: %t; want %d, mounted", len(claims), MountsClaims(&set, ordinal, pod),
				len(set.Spec.VolumeClaimTemplates))
		}
	})
}

func seedSets() []*v1.StatefulSet {
	claim := corev1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{Name: "data", Labels: map[string]string{"a": "b"}}}
	set := &v1.StatefulSet{ObjectMeta: metav1.ObjectMeta{Name: "web", Namespace: "default", UID: "1"}}
	set.Spec.Selector = &metav1.LabelSelector{MatchLabels: map[string]string{"app": "web"}}
	set.Spec.Template.Labels = set.Spec.Selector.MatchLabels
	set.Spec.Template.Spec.Volumes = []corev1.Volume{{Name: "data"}, {Name: "tmp"}}
	set.Spec.VolumeClaimTemplates = []corev1.PersistentVolumeClaim{claim}
	set.Spec.Overrides = []v1.MemberOverride{{Name: "big", Ordinals: []v1.OrdinalRange{{First: 0}}, NodeSelector: map[string]string{"a": "b"},
		VolumeClaims: []v1.VolumeClaimOverride{{Name: "data", StorageClassName: new("fast")}}}}
	rendered := set.DeepCopy()
	rendered.Spec.Identity = &v1.MemberIdentity{
		Env: []string{"REPLICAS"}, Transforms: []v1.Transform{{Path: "/spec/priority", Expression: "ORDINAL"}}}
	rendered.Spec.Template.Annotations = map[string]string{"id": "$(IDENTITY)"}
	return []*v1.StatefulSet{{}, set, rendered}
}
