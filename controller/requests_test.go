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
	"statefulset.dev/controller/plan/action"
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
	host.PrependReactor(verb, "*", func(act clienttesting.Action) (bool, runtime.Object, error) {
		return nameOf(act) == name, nil, answer
	})
}

func nameOf(act clienttesting.Action) string {
	switch act := act.(type) {
	case clienttesting.CreateAction:
		return act.GetObject().(metav1.Object).GetName()
	case interface{ GetName() string }:
		return act.GetName()
	default:
		return ""
	}
}

func writesTo(host *fake.Clientset) []clienttesting.Action {
	return slices.DeleteFunc(host.Actions(), func(act clienttesting.Action) bool {
		return slices.Contains([]string{"get", "list", "watch"}, act.GetVerb())
	})
}

func created(host *fake.Clientset) []string {
	var names []string
	for _, act := range writesTo(host) {
		names = append(names, nameOf(act))
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

func preconditionsOf(t *testing.T, act clienttesting.Action) (types.UID, string) {
	t.Helper()
	switch act := act.(type) {
	case clienttesting.DeleteActionImpl:
		if p := act.DeleteOptions.Preconditions; p != nil && p.UID != nil && p.ResourceVersion != nil {
			return *p.UID, *p.ResourceVersion
		}
	case clienttesting.CreateActionImpl:
		if eviction, ok := act.Object.(*policyv1.Eviction); ok && eviction.DeleteOptions.Preconditions != nil {
			return *eviction.DeleteOptions.Preconditions.UID, *eviction.DeleteOptions.Preconditions.ResourceVersion
		}
	case clienttesting.PatchAction:
		var patch struct {
			Metadata struct {
				UID             types.UID
				ResourceVersion string
			}
		}
		if err := json.Unmarshal(act.GetPatch(), &patch); err != nil {
			t.Fatalf("reading patch %s: %v", act.GetPatch(), err)
		}
		return patch.Metadata.UID, patch.Metadata.ResourceVersion
	}
	t.Fatalf("%s without preconditions: %v", act.GetVerb(), act)
	return "", ""
}

func targetOf(object metav1.Object) action.Target {
	return action.Target{Name: object.GetName(), UID: object.GetUID(), ResourceVersion: object.GetResourceVersion()}
}

func wantedTarget(act action.Action) action.Target {
	switch act := act.(type) {
	case action.DeletePod:
		return act.Pod
	case action.RepairPod:
		return act.Pod
	case action.UpdateInPlace:
		return act.Pod
	case action.EndInPlace:
		return act.Pod
	case action.ResizePod:
		return act.Pod
	case action.PatchPod:
		return act.Pod
	case action.SetPodConditions:
		return act.Pod
	case action.AdoptPod:
		return act.Pod
	case action.ReleasePod:
		return act.Pod
	case action.SetClaimOwners:
		return act.Claim
	case action.UpdateClaim:
		return act.Claim
	case action.MarkClaim:
		return act.Claim
	case action.DeleteClaim:
		return act.Claim
	case action.RaiseRevision:
		return act.Revision
	case action.AdoptRevision:
		return act.Revision
	case action.DeleteRevision:
		return act.Revision
	default:
		return action.Target{}
	}
}
