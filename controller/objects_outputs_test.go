// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"

	v1 "statefulset.dev/api/apps/v1"
	"statefulset.dev/controller/objects"
	"statefulset.dev/controller/plan"
	"statefulset.dev/controller/plan/action"
	"statefulset.dev/identity"
)

// newOutputTerm is newObjectTerm, of a set so large whose pods name what their ConfigMaps give, which
// exist.
func newOutputTerm(t *testing.T, replicas int) (*term, *configMaps, *v1.StatefulSet) {
	t.Helper()
	term, host, set := newObjectTerm(t, func(set *v1.StatefulSet) {
		set.Spec.Replicas, set.Spec.PodManagementPolicy = new(int32(replicas)), v1.ParallelPodManagement
		set.Spec.Identity = &v1.MemberIdentity{Env: []string{"ADDRESS"}}
		set.Spec.ObjectTemplates[0].Outputs = []v1.ObjectOutput{{Name: "ADDRESS", Expression: "object.data.address"}}
	})
	for ordinal := range replicas {
		give(t, host, set, ordinal, "")
	}
	term.eventually(t, "the objects are seen", func(w plan.World) bool { return isKnown(w) && len(w.Objects) == replicas })
	return term, host, set
}

// give stores the ConfigMap of a member with an address, or without.
func give(t *testing.T, host *configMaps, set *v1.StatefulSet, ordinal int, address string) {
	t.Helper()
	templates, _ := identity.OverridesOf(set).Objects()
	made, wrong := templates[0].Make(ordinal)
	if wrong != nil {
		t.Fatal(wrong)
	}
	made.SetUID(types.UID(made.GetName() + "-uid"))
	if address != "" {
		_ = unstructured.SetNestedField(made.Object, address, "data", "address")
	}
	host.do(func() { host.put(made) })
}

// look decides as a look does, and returns the plan and what was read for it.
func look(t *testing.T, term *term, host *configMaps) (p plan.Plan, read []string) {
	t.Helper()
	world := term.eventually(t, "objects are known", isKnown)
	host.do(func() { host.read = nil })
	known := term.states.getOrCreate(cache.MetaObjectToName(world.Set))
	p, err := term.decide(t.Context(), known, &evaluation{term: term, state: known, set: world.Set}, world)
	if err != nil {
		t.Fatal(err)
	}
	host.do(func() { read = host.read })
	slices.Sort(read)
	return p, read
}

// given are the pods that a plan creates, with what they are given.
func given(p plan.Plan) (all []string) {
	for _, act := range p.All() {
		if a, creates := act.(action.CreateMember); creates {
			all = append(all, a.Pod.Name+"="+a.Pod.Annotations[v1.OutputAnnotationPrefix+"ADDRESS"])
		}
	}
	return all
}

func TestObjectsAreReadOncePerChangeForPodsThatWait(t *testing.T) {
	term, host, set := newOutputTerm(t, 2)
	p, read := look(t, term, host)
	if want := "web-0: ConfigMap web-0-conf gives no ADDRESS: no such key: address"; len(given(p)) > 0 || p.Waiting != want || len(read) != 2 {
		t.Errorf("the plan creates %q and waits for %q, having read %q, want none, %q, and both read", given(p), p.Waiting, read, want)
	}
	if _, read := look(t, term, host); len(read) > 0 {
		t.Errorf("another look reads %q, want nothing", read)
	}
	for term.queue.Len() > 0 {
		key, _ := term.queue.Get()
		term.queue.Done(key)
	}
	give(t, host, set, 1, "10.0.0.7")
	for end := time.Now().Add(20 * time.Second); term.queue.Len() == 0; time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("an object that has changed wakes nobody, want the set that waits for it")
		}
	}
	p, read = look(t, term, host)
	if want := []string{"web-1=10.0.0.7"}; !slices.Equal(given(p), want) || !slices.Equal(read, []string{"web-1-conf"}) {
		t.Errorf("the plan creates %q, having read %q, want %q, and the one that has changed", given(p), read, want)
	}
}

func TestAnObjectThatCannotBeReadHoldsUpItsPodOnly(t *testing.T) {
	term, host, set := newOutputTerm(t, 1)
	host.do(func() { host.hides = true })
	p, _ := look(t, term, host)
	if want := "gives no ADDRESS: cannot read the object: "; len(given(p)) > 0 || !strings.Contains(p.Waiting, want) {
		t.Errorf("the plan creates %q and waits for %q, want none, and %q", given(p), p.Waiting, want)
	}
	known := term.states.getOrCreate(cache.MetaObjectToName(set))
	if known.objects.NextSync() == 0 {
		t.Error("it is never tried again")
	}
	give(t, host, set, 0, "10.0.0.1")
	host.do(func() { host.hides = false })
	term.eventually(t, "the change is seen",
		func(w plan.World) bool { return w.Objects[confOf(0)].ResourceVersion == fmt.Sprint(host.version) })
	if p, _ := look(t, term, host); !slices.Equal(given(p), []string{"web-0=10.0.0.1"}) || known.objects.NextSync() != 0 {
		t.Errorf("the plan creates %q, and there is another look in %s, want the pod, and none", given(p), known.objects.NextSync())
	}
}

func TestALookReadsSoManyObjectsAndTheNextGoesOn(t *testing.T) {
	term, host, _ := newOutputTerm(t, objects.OutputsPerSync+7)
	if p, read := look(t, term, host); len(read) != objects.OutputsPerSync || len(p.Reads) != 7 {
		t.Errorf("a look reads %d and leaves %d, want %d and 7", len(read), len(p.Reads), objects.OutputsPerSync)
	}
	if p, read := look(t, term, host); len(read) != 7 || len(p.Reads) != 0 {
		t.Errorf("the next look reads %d and leaves %d, want 7 and none", len(read), len(p.Reads))
	}
}
