// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"fmt"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/cache"

	v1 "statefulset.dev/api/apps/v1"
	"statefulset.dev/controller/plan"
	"statefulset.dev/identity"
)

func TestPlansTakeSecretsToBeThereThatWereGiven(t *testing.T) {
	_, _, set, _ := newVaultTerm(t)
	world := plan.World{Set: set, Claims: []*corev1.PersistentVolumeClaim{
		{ObjectMeta: metav1.ObjectMeta{Name: "data-web-0", Annotations: map[string]string{v1.GeneratedAnnotation: "web-0-auth"}}}, {ObjectMeta: metav1.ObjectMeta{Name: "data-web-1"}}}}
	assumed(t, &world, nil)
	if len(world.Objects) != 1 {
		t.Fatalf("taken to be there are %v, want web-0-auth", world.Objects)
	}
	found := world.Objects[identity.ObjectKey{Kind: "Secret", Name: "web-0-auth"}]
	if found == nil || found.Annotations[v1.GeneratedAnnotation] != "password,token" || found.Annotations[v1.OwnerAnnotation] != "web/web-uid" {
		t.Errorf("taken to be there is %+v, want the set's, with its keys", found)
	}
	if decided := plan.Compute(world); len(decided.Reads)+len(decided.Lost) > 0 {
		t.Errorf("the plan reads %v, and looks for %v, want nothing", decided.Reads, decided.Lost)
	}
}

func TestSecretsThatAreGoneAreSoughtNowAndThen(t *testing.T) {
	term, _, set, _ := newVaultTerm(t)
	known, now := term.memory.of(cache.MetaObjectToName(set)), time.Unix(1000, 0)
	var lost []identity.ObjectKey
	for i := range mostSought + 10 {
		lost = append(lost, identity.ObjectKey{Kind: "Secret", Name: fmt.Sprintf("web-%d-auth", i)})
	}
	known.seekLost(lost, now)
	if got := len(known.objects.taken); got != mostSought || known.nextLookAtObjects() == 0 {
		t.Errorf("%d Secrets are sought, and the next look is in %s, want %d and some time", got, known.nextLookAtObjects(), mostSought)
	}
	known.objects.taken = nil // none was found
	known.seekLost(lost, now.Add(time.Second))
	if got := len(known.objects.taken); got != 0 || known.nextLookAtObjects() == 0 {
		t.Errorf("a second later, %d Secrets are sought, and the next look is in %s, want none and some time", got, known.nextLookAtObjects())
	}
	known.seekLost(lost, now.Add(unlabeledPodsInterval))
	if got := len(known.objects.taken); got != mostSought {
		t.Errorf("after a while %d Secrets are sought, want %d", got, mostSought)
	}
	known.objects.taken = nil
	known.seekLost(nil, now.Add(time.Hour))
	if next := known.nextLookAtObjects(); next != 0 {
		t.Errorf("when none is gone, the next look is in %s, want never", next)
	}
}
