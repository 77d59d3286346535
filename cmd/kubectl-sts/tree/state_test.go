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

func TestAMemberOnALostNodeIsNotReady(t *testing.T) {
	set := &v1.StatefulSet{ObjectMeta: metav1.ObjectMeta{Name: "web"}, Spec: v1.StatefulSetSpec{Replicas: new(int32(1))}}
	pod := identity.Pod(set, &set.Spec.Template, "web-1", 0)
	pod.Status = corev1.PodStatus{
		Phase: corev1.PodUnknown, Reason: "NodeLost", Conditions: []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}}}
	shown := state{set: set, pods: []*corev1.Pod{pod}}
	row := shown.describe(0, pod, true)
	if row.phase != "NodeLost" || row.readiness != "not ready" || row.health != broken {
		t.Errorf("the member: got phase %q, readiness %q, health %d, want NodeLost, not ready, %d", row.phase, row.readiness, row.health, broken)
	}
	if ready, _, finished, wanted := shown.progress(); ready != 0 || finished != 0 || wanted != 1 {
		t.Errorf("got %d ready, %d ready at the update revision, of %d; want 0, 0, 1", ready, finished, wanted)
	}
}

func TestAMemberIsShownWithWhatIsDoneWithIt(t *testing.T) {
	set := &v1.StatefulSet{ObjectMeta: metav1.ObjectMeta{Name: "web"}}
	having := func(note string, conditions ...corev1.PodCondition) *corev1.Pod {
		pod := identity.Pod(set, &set.Spec.Template, "web-1", 0)
		pod.Status = corev1.PodStatus{Phase: corev1.PodRunning, Conditions: conditions}
		if note != "" {
			pod.Annotations = map[string]string{v1.InPlaceAnnotation: note}
		}
		return pod
	}
	ready := corev1.PodCondition{Type: corev1.PodReady, Status: corev1.ConditionTrue}
	service := func(status corev1.ConditionStatus) corev1.PodCondition {
		return corev1.PodCondition{Type: v1.PodInService, Status: status}
	}
	for sentence, test := range map[string]struct {
		pod    *corev1.Pod
		wanted bool
		want   string
	}{
		"one that serves":                             {having("", ready), true, "ready"},
		"one that serves and can be drained":          {having("", ready, service(corev1.ConditionTrue)), true, "ready"},
		"one that is out of service before a restart": {having("", service(corev1.ConditionFalse)), true, "draining"},
		"one that has just been taken out of service": {having("", ready, service(corev1.ConditionFalse)), true, "draining"},
		"one that was drained, and is being restarted": {
			having(`{"containers":{"db":"a"}}`, service(corev1.ConditionFalse)), true, "restarting"},
		"one whose containers get other resources":         {having(`{"containers":{},"resources":{"db":{}}}`, ready), true, "resizing"},
		"one that does not serve, and nothing is done":     {having(""), true, "not ready"},
		"one that is drained, and is not wanted any more":  {having("", service(corev1.ConditionFalse)), false, "surplus"},
		"one whose note nobody can read, as of a stranger": {having("?", ready), true, "restarting"},
	} {
		t.Run(sentence, func(t *testing.T) {
			if got := (state{set: set}).describe(0, test.pod, test.wanted).readiness; got != test.want {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
}
