// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package tree

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "statefulset.dev/api/apps/v1"
	"statefulset.dev/identity"
)

func TestAMemberIsShownWithItsOverride(t *testing.T) {
	set := &v1.StatefulSet{ObjectMeta: metav1.ObjectMeta{Name: "web"}}
	set.Spec.Overrides = []v1.MemberOverride{
		{Name: "big", Ordinals: []v1.OrdinalRange{{First: 0}}, NodeSelector: map[string]string{"disk": "nvme"}},
		{Name: "wide", Ordinals: []v1.OrdinalRange{{First: 1}}, VolumeClaims: []v1.VolumeClaimOverride{{Name: "data"}}},
	}
	overrides := identity.OverridesOf(set)
	for sentence, test := range map[string]struct {
		ordinal int
		pod     *corev1.Pod
		want    string
	}{
		"one that has it":                                   {0, identity.Pod(set, &set.Spec.Template, "web-1", 0), ", override big"},
		"one that has yet to get it":                        {0, &corev1.Pod{}, ", without override big"},
		"one that has that of before":                       {2, identity.Pod(set, &set.Spec.Template, "web-1", 0), ", earlier override"},
		"one without a pod":                                 {0, nil, ""},
		"one whose override says nothing about pods":        {1, &corev1.Pod{}, ""},
		"one that has none, and is not to have one, either": {2, &corev1.Pod{}, ""},
	} {
		t.Run(sentence, func(t *testing.T) {
			if got := overrideWord(overrides, test.ordinal, test.pod); got != test.want {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
}

func TestAClaimIsShownWithWhatItHas(t *testing.T) {
	of := func(asked, has string) *corev1.PersistentVolumeClaim {
		claim := &corev1.PersistentVolumeClaim{Status: corev1.PersistentVolumeClaimStatus{Phase: corev1.ClaimBound}}
		claim.Spec.Resources.Requests = corev1.ResourceList{corev1.ResourceStorage: resource.MustParse(asked)}
		if has != "" {
			claim.Status.Capacity = corev1.ResourceList{corev1.ResourceStorage: resource.MustParse(has)}
		}
		return claim
	}
	going := of("2Gi", "1Gi")
	going.DeletionTimestamp = &metav1.Time{}
	for sentence, test := range map[string]struct {
		claim *corev1.PersistentVolumeClaim
		want  string
	}{
		"one that is not there":             {nil, "missing"},
		"one that has what it asks for":     {of("1Gi", "1Gi"), "Bound"},
		"one that has more":                 {of("1Gi", "4Gi"), "Bound"},
		"one whose size is not known":       {of("1Gi", ""), "Bound"},
		"one that is to grow":               {of("20Gi", "10Gi"), "10Gi growing to 20Gi"},
		"one that is to grow and is to end": {going, "Terminating"},
	} {
		t.Run(sentence, func(t *testing.T) {
			if got := claimPhase(test.claim); got != test.want {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
}
