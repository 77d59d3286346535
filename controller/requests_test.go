// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"
	"encoding/json"
	"slices"
	"testing"

	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"

	v1 "statefulset.dev/api/apps/v1"
	setsfake "statefulset.dev/client/clientset/versioned/fake"
	"statefulset.dev/controller/plan"
)

// newTestTerm is a term whose caches and host hold the set and the objects, and
// that does not run.
func newTestTerm(t testing.TB, set *v1.StatefulSet, objects ...metav1.Object) (*term, *fake.Clientset) {
	t.Helper()
	hostObjects := make([]runtime.Object, 0, len(objects))
	for _, object := range objects {
		hostObjects = append(hostObjects, object.(runtime.Object))
	}
	host := fake.NewClientset(hostObjects...)
	config := Config{Options: NewOptions(), Host: host, Sets: setsfake.NewSimpleClientset(set), Identity: "test"}
	if err := config.complete(); err != nil {
		t.Fatalf("completing configuration: %v", err)
	}
	gauges, err := newGauges(nil)
	if err != nil {
		t.Fatal(err)
	}
	term := newTerm(config, watchedKinds(host, config.Sets), gauges, func() error { return nil })
	term.view = filled(t, append(objects, set)...)
	// The fake has no requests, so it takes a trial for an eviction that says of itself to be one.
	term.kinds.of(podsResource).tryEviction = term.kinds.of(podsResource).evict
	t.Cleanup(term.queue.ShutDown)
	return term, host
}

func holding(t *testing.T, term *term, set *v1.StatefulSet) context.Context {
	t.Helper()
	if err := term.view[setsResource].Update(set); err != nil {
		t.Fatal(err)
	}
	return t.Context()
}

// refuse makes the host answer a request for the named object with an error.
func refuse(host *fake.Clientset, verb, name string, answer error) {
	host.PrependReactor(verb, "*", func(action clienttesting.Action) (bool, runtime.Object, error) {
		return nameOf(action) == name, nil, answer
	})
}

func nameOf(action clienttesting.Action) string {
	switch action := action.(type) {
	case clienttesting.CreateAction:
		return action.GetObject().(metav1.Object).GetName()
	case interface{ GetName() string }:
		return action.GetName()
	default:
		return ""
	}
}

func writesTo(host *fake.Clientset) []clienttesting.Action {
	return slices.DeleteFunc(host.Actions(), func(action clienttesting.Action) bool {
		return slices.Contains([]string{"get", "list", "watch"}, action.GetVerb())
	})
}

func created(host *fake.Clientset) []string {
	var names []string
	for _, action := range writesTo(host) {
		names = append(names, nameOf(action))
	}
	slices.Sort(names)
	return names
}

func reasonsOf(events []event) []string {
	var reasons []string
	for _, e := range events {
		reasons = append(reasons, e.reason)
	}
	slices.Sort(reasons)
	return reasons
}

func preconditionsOf(t *testing.T, action clienttesting.Action) (types.UID, string) {
	t.Helper()
	switch action := action.(type) {
	case clienttesting.DeleteActionImpl:
		if p := action.DeleteOptions.Preconditions; p != nil && p.UID != nil && p.ResourceVersion != nil {
			return *p.UID, *p.ResourceVersion
		}
	case clienttesting.CreateActionImpl:
		if eviction, ok := action.Object.(*policyv1.Eviction); ok && eviction.DeleteOptions.Preconditions != nil {
			return *eviction.DeleteOptions.Preconditions.UID, *eviction.DeleteOptions.Preconditions.ResourceVersion
		}
	case clienttesting.PatchAction:
		var patch struct {
			Metadata struct {
				UID             types.UID
				ResourceVersion string
			}
		}
		if err := json.Unmarshal(action.GetPatch(), &patch); err != nil {
			t.Fatalf("reading patch %s: %v", action.GetPatch(), err)
		}
		return patch.Metadata.UID, patch.Metadata.ResourceVersion
	}
	t.Fatalf("%s without preconditions: %v", action.GetVerb(), action)
	return "", ""
}

func targetOf(object metav1.Object) plan.Target {
	return plan.Target{Name: object.GetName(), UID: object.GetUID(), ResourceVersion: object.GetResourceVersion()}
}

func wantedTarget(action plan.Action) plan.Target {
	switch action := action.(type) {
	case plan.DeletePod:
		return action.Pod
	case plan.RepairPod:
		return action.Pod
	case plan.UpdateInPlace:
		return action.Pod
	case plan.EndInPlace:
		return action.Pod
	case plan.ResizePod:
		return action.Pod
	case plan.PatchPod:
		return action.Pod
	case plan.SetPodConditions:
		return action.Pod
	case plan.AdoptPod:
		return action.Pod
	case plan.ReleasePod:
		return action.Pod
	case plan.SetClaimOwners:
		return action.Claim
	case plan.UpdateClaim:
		return action.Claim
	case plan.MarkClaim:
		return action.Claim
	case plan.DeleteClaim:
		return action.Claim
	case plan.RaiseRevision:
		return action.Revision
	case plan.AdoptRevision:
		return action.Revision
	case plan.DeleteRevision:
		return action.Revision
	default:
		return plan.Target{}
	}
}
