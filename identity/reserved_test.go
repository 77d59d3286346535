// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package identity

import (
	"maps"
	"testing"

	v1 "statefulset.dev/api/apps/v1"
)

func TestKeysOfTheGroupAreReserved(t *testing.T) {
	for key, want := range map[string]bool{
		v1.OwnerAnnotation:                    true,
		v1.OutputAnnotationPrefix + "ADDRESS": true,
		v1.GroupName + "/unheard-of":          true,
		v1.GroupName:                          false,
		"owner":                               false,
		"shop." + v1.GroupName + "/owner":     false,
		v1.GroupName + ".shop/owner":          false,
		"statefulset.kubernetes.io/pod-name":  false,
	} {
		if got := IsReserved(key); got != want {
			t.Errorf("key %s: got reserved %t, want %t", key, got, want)
		}
	}
}

// records are what the controller notes on pods and claims, as somebody may have copied it into a
// template.
func records() map[string]string {
	return map[string]string{v1.OwnerAnnotation: "web/old", v1.RetiredAtAnnotation: "2026-01-01T00:00:00Z", v1.GeneratedAnnotation: "web-0-s",
		v1.InPlaceAnnotation: "{}", v1.DisruptionAnnotation: "{}", v1.DisruptionCountAnnotation: "7", v1.ClaimTemplatesAnnotation: "log",
		v1.OverrideAnnotation: "1-copied", v1.ReplicasAnnotation: "9", v1.OutputAnnotationPrefix + "A": "x", "note": "x"}
}

func TestPodsAndClaimsGetNoRecordsFromTemplates(t *testing.T) {
	set := testSet()
	set.Spec.Template.Annotations, set.Spec.VolumeClaimTemplates[0].Annotations = records(), records()
	set.Spec.Overrides = []v1.MemberOverride{
		{Name: "large", Ordinals: []v1.OrdinalRange{{First: 1}}, Annotations: map[string]string{v1.InPlaceAnnotation: "{}", "by": "override"}}}
	before := set.DeepCopy()
	overrides := OverridesOf(set)
	for ordinal, want := range map[int]map[string]string{
		0: {"note": "x"},
		1: {"note": "x", "by": "override", v1.OverrideAnnotation: overrides.Hash(1)},
	} {
		pod, err := overrides.Pod(SourceOf(set), "web-1", ordinal)
		if err != nil || !maps.Equal(pod.Annotations, want) {
			t.Errorf("the pod of member %d has annotations %v, %v, want %v", ordinal, pod.Annotations, err, want)
		}
		for what, claim := range map[string]map[string]string{
			"Claims": Claims(set, ordinal)[0].Annotations, "Claim": Claim(set, 0, ordinal).Annotations} {
			if !maps.Equal(claim, map[string]string{"note": "x"}) {
				t.Errorf("the claim of member %d by %s has annotations %v, want the note only", ordinal, what, claim)
			}
		}
	}
	if set.String() != before.String() {
		t.Errorf("building pods and claims changed the set to\n%s\nfrom\n%s", set, before)
	}
}

// A Service may select pods by such a label, and a backup claims: the controller reads none of them.
func TestPodsAndClaimsGetAllLabelsOfTemplates(t *testing.T) {
	const key = v1.GroupName + "/tier"
	set := testSet()
	set.Spec.Template.Labels[key], set.Spec.VolumeClaimTemplates[0].Labels[key] = "db", "db"
	pod, claim := Pod(set, &set.Spec.Template, "web-1", 0).Labels[key], Claims(set, 0)[0].Labels[key]
	if pod != "db" || claim != "db" {
		t.Errorf("the pod has the label %q and the claim %q, want db and db", pod, claim)
	}
}

// An upgrade must not make another revision, or members would be recreated.
func TestTheRevisionOfATemplateWithRecordsStays(t *testing.T) {
	set := testSet()
	set.Spec.Template.Annotations = records()
	if recorded, err := Recorded(RevisionData(SourceOf(set))); err != nil || !maps.Equal(recorded.Template.Annotations, records()) {
		t.Errorf("the revision records %v, %v, want the template as it is written", recorded.Template.Annotations, err)
	}
}
