// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"
	"k8s.io/client-go/tools/cache"

	v1 "statefulset.dev/api/apps/v1"
	"statefulset.dev/controller/plan"
	"statefulset.dev/identity"
)

func thing(n int) schema.GroupVersionKind {
	return schema.GroupVersionKind{Group: "example.com", Version: "v1", Kind: fmt.Sprintf("Thing%03d", n)}
}

// describingThing is a set with a template of a kind that the host does not have, created some hours after others.
func describingThing(n, hours int) *v1.StatefulSet {
	set := newSet(fmt.Sprintf("set-%03d", n))
	set.CreationTimestamp = metav1.NewTime(time.Date(2026, 1, 1, hours, 0, 0, 0, time.UTC))
	kind := thing(n)
	set.Spec.ObjectTemplates = []v1.ObjectTemplate{{Name: "a", Object: runtime.RawExtension{
		Raw: fmt.Appendf(nil, `{"apiVersion":%q,"kind":%q,"metadata":{"name":"$(IDENTITY)-a"}}`, kind.GroupVersion(), kind.Kind)}}}
	return set
}

// kindsTerm is a term with sets, and the number of times that the host was asked for a kind.
func kindsTerm(t *testing.T, sets ...*v1.StatefulSet) (*term, *atomic.Int32) {
	t.Helper()
	term, host := newTestTerm(t, sets[0])
	for _, set := range sets[1:] {
		if err := term.view.put(setsResource, set); err != nil {
			t.Fatal(err)
		}
	}
	term.Objects = &ObjectClients{}
	return term, discoveries(host)
}

func discoveries(host *fake.Clientset) *atomic.Int32 {
	asked := &atomic.Int32{}
	host.PrependReactor("get", "resource", func(clienttesting.Action) (bool, runtime.Object, error) {
		asked.Add(1)
		return false, nil, nil
	})
	return asked
}

// observed is what a term shows of the kinds of a set, and how many are watched then.
func (t *term) observed(test *testing.T, set *v1.StatefulSet) (map[schema.GroupKind]plan.Kind, int) {
	world := plan.World{Set: set, Now: t.Clock.Now()}
	t.observeObjects(test.Context(), t.memory.of(cache.MetaObjectToName(set)), &world)
	t.objects.mu.Lock()
	defer t.objects.mu.Unlock()
	return world.Kinds, len(t.objects.watched)
}

// woken are the sets that are in the queue of a term, without the rest.
func (t *term) woken() (names []string) {
	for t.queue.Len() > 0 {
		key, _ := t.queue.Get()
		t.queue.Done(key)
		names = append(names, key.Name)
	}
	slices.Sort(names)
	return slices.Compact(names)
}

func TestAHundredKindsAreWatchedAndTheNextWaitsForAPlace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var sets []*v1.StatefulSet
		for n := range identity.MostObjectKinds + 2 {
			sets = append(sets, describingThing(n, n))
		}
		term, _ := kindsTerm(t, sets...)
		t.Cleanup(term.objects.begin(t.Context()))
		// The sets are looked at in another order than they came in.
		for _, set := range slices.Backward(sets) {
			term.observed(t, set)
		}
		for n, set := range sets {
			kinds, watched := term.observed(t, set)
			got := kinds[thing(n).GroupKind()].Refused
			if waits := strings.HasPrefix(got, "at most 100 kinds of objects are watched"); waits != (n >= identity.MostObjectKinds) || watched != identity.MostObjectKinds {
				t.Errorf("kind %d of the sets by age: got refused %q with %d kinds watched, want the first 100 watched and the others refused", n, got, watched)
			}
		}
		synctest.Wait()
		term.woken()
		if err := term.view[setsResource].Delete(sets[7]); err != nil {
			t.Fatal(err)
		}
		time.Sleep(unusedInterval + time.Second)
		if got, want := term.woken(), "set-100"; !slices.Contains(got, want) || slices.Contains(got, "set-101") {
			t.Errorf("when a kind was not needed any more %q were woken, want %s, and not set-101", got, want)
		}
		kinds, _ := term.observed(t, sets[identity.MostObjectKinds])
		if got := kinds[thing(identity.MostObjectKinds).GroupKind()].Refused; strings.HasPrefix(got, "at most") {
			t.Errorf("the kind that waited: got refused %q, want it watched", got)
		}
		if got, watched := term.observed(t, sets[identity.MostObjectKinds+1]); watched != identity.MostObjectKinds || got[thing(identity.MostObjectKinds+1).GroupKind()].Refused == "" {
			t.Errorf("with the last kind %d kinds are watched, and it is %v, want 100 and it refused", watched, got)
		}
		for _, set := range sets[:10] {
			_ = term.view[setsResource].Delete(set)
		}
		time.Sleep(unusedInterval + time.Second)
		if got := term.woken(); !slices.Contains(got, "set-101") {
			t.Errorf("when there are places for all %q were woken, want set-101", got)
		}
	})
}

func TestAKindThatIsWatchedKeepsItsPlace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		young := describingThing(999, 999)
		term, _ := kindsTerm(t, young)
		t.Cleanup(term.objects.begin(t.Context()))
		term.observed(t, young)
		for n := range identity.MostObjectKinds {
			set := describingThing(n, n)
			if err := term.view.put(setsResource, set); err != nil {
				t.Fatal(err)
			}
			term.observed(t, set)
		}
		time.Sleep(10 * unusedInterval)
		if got, watched := term.observed(t, young); strings.HasPrefix(got[thing(999).GroupKind()].Refused, "at most") || watched != identity.MostObjectKinds {
			t.Errorf("the kind that was watched first is %v with %d kinds watched, want it watched, and 100", got, watched)
		}
	})
}

func TestTheHostIsAskedEverMoreRarelyForAKindThatItDoesNotHave(t *testing.T) {
	for sentence, test := range map[string]struct {
		err         error
		hurried     bool
		least, most int32 // of questions in an hour
	}{
		"a kind that is not served":                               {least: 45, most: 64},
		"a kind that is not served, of a set that always changes": {hurried: true, least: 150, most: 241},
		"a host that does not answer":                             {err: errors.New("no answer"), least: 45, most: 64},
	} {
		t.Run(sentence, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				term, host := newTestTerm(t, describingThing(0, 0))
				asked := &atomic.Int32{}
				host.PrependReactor("get", "resource", func(clienttesting.Action) (bool, runtime.Object, error) {
					asked.Add(1)
					return test.err != nil, nil, test.err
				})
				term.Objects = &ObjectClients{}
				t.Cleanup(term.objects.begin(t.Context()))
				for range 3600 {
					known, _ := term.objects.of(thing(0), "shop")
					if test.hurried {
						known.hurry()
					}
					time.Sleep(time.Second)
				}
				if got := asked.Load(); got < test.least || got > test.most {
					t.Errorf("the host was asked %d times in an hour, want %d to %d", got, test.least, test.most)
				}
			})
		})
	}
}

func TestAKindIsFoundSoonWhenASetThatDescribesItIsWritten(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		set := describingThing(0, 0)
		term, asked := kindsTerm(t, set)
		t.Cleanup(term.objects.begin(t.Context()))
		term.observed(t, set)
		time.Sleep(time.Hour)
		before := asked.Load()
		term.observed(t, set)
		time.Sleep(10 * time.Second)
		idle := asked.Load()
		set = set.DeepCopy()
		set.Generation++
		term.observed(t, set)
		time.Sleep(2 * shortestDiscovery)
		if changed := asked.Load(); idle > before+1 || changed == idle {
			t.Errorf("the host was asked %d times, %d after a look at the unchanged set, and %d after it changed, want it asked again only then", before, idle, changed)
		}
	})
}
