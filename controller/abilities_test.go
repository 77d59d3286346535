// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"errors"
	"testing"
	"time"

	authorizationv1 "k8s.io/api/authorization/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"

	v1 "statefulset.dev/api/apps/v1"
	"statefulset.dev/controller/plan"
)

func TestTheHostIsAskedOnceWhetherItResizesPods(t *testing.T) {
	plain, inPlace := newSet("web"), newSet("web")
	inPlace.Spec.UpdateStrategy.RollingUpdate.InPlace = &v1.InPlaceUpdate{Policy: v1.IfPossibleInPlaceUpdatePolicyType}
	under := newPod(plain, 0)
	under.Annotations = map[string]string{v1.InPlaceAnnotation: "{}"}
	served := []*metav1.APIResourceList{{GroupVersion: "v1", APIResources: []metav1.APIResource{{Name: "pods"}, {Name: "pods/resize"}}}}
	for sentence, test := range map[string]struct {
		world  plan.World
		served []*metav1.APIResourceList
		want   bool
		asked  int
	}{
		"not for a set that updates nothing in place": {plan.World{Set: plain}, served, false, 0},
		"for one that does":                           {plan.World{Set: inPlace}, served, true, 1},
		"for one that has": {
			plan.World{Set: plain, Pods: append(fullWorld(time.Now()).Pods, under)}, served, true, 1},
		"a host that serves pods, and does not": {
			plan.World{Set: inPlace}, []*metav1.APIResourceList{{GroupVersion: "v1", APIResources: []metav1.APIResource{{Name: "pods"}}}}, false, 1},
		"a host that does not even say what it serves so": {plan.World{Set: inPlace}, nil, false, 1},
	} {
		t.Run(sentence, func(t *testing.T) {
			host := fake.NewClientset()
			host.Resources = test.served
			of := &capabilities{host: host}
			for range 2 {
				world := test.world
				if err := of.addTo(t.Context(), &world); err != nil || world.Resizes != test.want {
					t.Errorf("got %t and error %v, want %t", world.Resizes, err, test.want)
				}
			}
			if asked := len(host.Actions()); asked != test.asked {
				t.Errorf("the host was asked %d times, want %d", asked, test.asked)
			}
		})
	}
}

func TestTheHostIsAskedAgainWhetherConditionsMayBeSetUntilTheyMay(t *testing.T) {
	plain, drains, waits := newSet("web"), newSet("web"), newSet("web")
	for _, set := range []*v1.StatefulSet{plain, drains, waits} {
		set.Spec.UpdateStrategy.RollingUpdate.InPlace = &v1.InPlaceUpdate{Policy: v1.IfPossibleInPlaceUpdatePolicyType}
	}
	drains.Spec.UpdateStrategy.RollingUpdate.InPlace.DrainSeconds = new(int32(0))
	waits.Spec.UpdateStrategy.RollingUpdate.Steps = []v1.RolloutStep{{PodConditions: []string{"example.com/ok"}}}
	for sentence, test := range map[string]struct {
		set     *v1.StatefulSet
		allowed bool
		want    bool
		asked   int
	}{
		"not for a set that sets none":               {plain, true, false, 0},
		"once for one that drains":                   {drains, true, true, 1},
		"once for one whose steps ask for some":      {waits, true, true, 1},
		"twice in a minute, as long as it says that": {drains, false, false, 2},
	} {
		t.Run(sentence, func(t *testing.T) {
			host, asked := fake.NewClientset(), 0
			host.PrependReactor("create", "selfsubjectaccessreviews", func(clienttesting.Action) (bool, runtime.Object, error) {
				asked++
				return true, &authorizationv1.SelfSubjectAccessReview{Status: authorizationv1.SubjectAccessReviewStatus{Allowed: test.allowed}}, nil
			})
			of, now := &capabilities{host: host}, time.Unix(1000, 0)
			for range 6 {
				world := plan.World{Set: test.set, Now: now}
				if err := of.addTo(t.Context(), &world); err != nil || world.SetsConditions != test.want {
					t.Errorf("got %t and error %v, want %t", world.SetsConditions, err, test.want)
				}
				now = now.Add(10 * time.Second)
			}
			if asked != test.asked {
				t.Errorf("the host was asked %d times, want %d", asked, test.asked)
			}
		})
	}
}

func TestAHostThatDoesNotAnswerIsNotTakenForOneThatDoesNotResize(t *testing.T) {
	set := newSet("web")
	set.Spec.UpdateStrategy.RollingUpdate.InPlace = &v1.InPlaceUpdate{Policy: v1.IfPossibleInPlaceUpdatePolicyType}
	term, host := newTestTerm(t, set)
	host.PrependReactor("get", "resource", func(clienttesting.Action) (bool, runtime.Object, error) { return true, nil, errors.New("away") })
	if world, err := term.observe(t.Context(), set); err == nil {
		t.Errorf("got the world %+v, want an error", world)
	}
	if shown, err := newPreview(host).Current(t.Context(), set, nil); err == nil {
		t.Errorf("got the plan %+v, want an error", shown)
	}
}
