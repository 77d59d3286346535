// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package tree

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

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
