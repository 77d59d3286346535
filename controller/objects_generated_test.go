// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "statefulset.dev/api/apps/v1"
	"statefulset.dev/controller/plan"
	"statefulset.dev/identity"
)

func TestPlansTakeSecretsToBeThereThatWereGiven(t *testing.T) {
	_, _, set, _ := newVaultTerm(t)
	world := plan.World{Set: set, Claims: []*corev1.PersistentVolumeClaim{
		{ObjectMeta: metav1.ObjectMeta{Name: "data-web-0", Annotations: map[string]string{v1.GeneratedAnnotation: "web-0-auth"}}},
		{ObjectMeta: metav1.ObjectMeta{Name: "data-web-1"}}}}
	assumed(t, &world, nil)
	if len(world.Objects) != 1 {
		t.Fatalf("taken to be there are %v, want web-0-auth", world.Objects)
	}
	found := world.Objects[identity.ObjectKey{Kind: "Secret", Name: "web-0-auth"}]
	if found == nil || found.Annotations[v1.GeneratedAnnotation] != "password,token" ||
		found.Annotations[v1.OwnerAnnotation] != "web/web-uid" {
		t.Errorf("taken to be there is %+v, want the set's, with its keys", found)
	}
	if decided := plan.Compute(world); len(decided.Reads)+len(decided.Lost) > 0 {
		t.Errorf("the plan reads %v, and looks for %v, want nothing", decided.Reads, decided.Lost)
	}
}
