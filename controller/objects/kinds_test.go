// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package objects

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"
	"k8s.io/client-go/tools/cache"
	"k8s.io/utils/clock"

	v1 "statefulset.dev/api/apps/v1"
	"statefulset.dev/controller/plan"
	"statefulset.dev/identity"
)

func thing(n int) schema.GroupVersionKind {
	return schema.GroupVersionKind{Group: "example.com", Version: "v1", Kind: fmt.Sprintf("Thing%03d", n)}
}

// describingThing is a set with a template of a kind that the host does not have, created some hours after others.
func describingThing(n, hours int) *v1.StatefulSet {
	kind := thing(n)
	set := &v1.StatefulSet{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: fmt.Sprintf("set-%03d", n), Generation: 1,
		CreationTimestamp: metav1.NewTime(time.Date(2026, 1, 1, hours, 0, 0, 0, time.UTC))}}
	set.UID = types.UID(set.Name)
	set.Spec.ObjectTemplates = []v1.ObjectTemplate{{Name: "a", Object: runtime.RawExtension{
		Raw: fmt.Appendf(nil, `{"apiVersion":%q,"kind":%q,"metadata":{"name":"$(IDENTITY)-a"}}`, kind.GroupVersion(), kind.Kind)}}}
	return set
}

// house is a watcher with the sets that it knows, and those that it has woken.
type house struct {
	*Watcher

	mu   sync.Mutex
	sets map[cache.ObjectName]*v1.StatefulSet
	// describing are the sets by the kind that they describe.
	describing map[string][]*v1.StatefulSet
	memories   map[cache.ObjectName]*Memory
	awake      []string
	// asked is how often the host was asked for kinds.
	asked atomic.Int32
}

// newHouse is a watcher in some namespaces, of a host that has none of the kinds, or that fails to say so.
func newHouse(t *testing.T, namespaces identity.ObjectNamespaces, fails error, sets ...*v1.StatefulSet) *house {
	t.Helper()
	h := &house{
		sets: map[cache.ObjectName]*v1.StatefulSet{}, describing: map[string][]*v1.StatefulSet{}, memories: map[cache.ObjectName]*Memory{}}
	host := fake.NewClientset()
	host.PrependReactor("get", "resource", func(clienttesting.Action) (bool, runtime.Object, error) {
		h.asked.Add(1)
		return fails != nil, nil, fails
	})
	h.Watcher = NewWatcher(Config{Clients: &Clients{}, Namespaces: namespaces, Discovery: host.Discovery(), Clock: clock.RealClock{}, Sets: h,
		MemoryOf: func(key cache.ObjectName) *Memory { return h.memories[key] },
		Wake: func(keys []cache.ObjectName) {
			h.mu.Lock()
			defer h.mu.Unlock()
			for _, key := range keys {
				h.awake = append(h.awake, key.Name)
			}
		}})
	h.put(sets...)
	t.Cleanup(h.Begin(t.Context()))
	return h
}

func (h *house) put(sets ...*v1.StatefulSet) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, set := range sets {
		key := cache.MetaObjectToName(set)
		h.sets[key], h.describing[kindOf(set)] = set, append(h.describing[kindOf(set)], set)
		if h.memories[key] == nil {
			h.memories[key] = &Memory{}
		}
	}
}

func (h *house) remove(set *v1.StatefulSet) {
	h.mu.Lock()
	defer h.mu.Unlock()
	delete(h.sets, cache.MetaObjectToName(set))
	of := kindOf(set)
	h.describing[of] = slices.DeleteFunc(h.describing[of], func(other *v1.StatefulSet) bool { return other == set })
	if len(h.describing[of]) == 0 {
		delete(h.describing, of)
	}
}

func kindOf(set *v1.StatefulSet) string { return identity.ObjectKinds(set)[0].GroupKind().String() }

func (h *house) Get(namespace, name string) (*v1.StatefulSet, bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	set, ok := h.sets[cache.ObjectName{Namespace: namespace, Name: name}]
	return set, ok
}

func (h *house) Kinds() []string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.Collect(maps.Keys(h.describing))
}

func (h *house) Describing(kind string) []*v1.StatefulSet {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.Clone(h.describing[kind])
}

// observed is what is shown of the kinds of a set, and how many are watched then.
func (h *house) observed(t *testing.T, set *v1.StatefulSet) (map[schema.GroupKind]plan.Kind, int) {
	t.Helper()
	world := plan.World{Set: set, Now: time.Now()}
	h.Observe(t.Context(), h.memories[cache.MetaObjectToName(set)], &world)
	h.Watcher.mu.Lock()
	defer h.Watcher.mu.Unlock()
	return world.Kinds, len(h.watched)
}

// woken are the sets that were woken since it was last asked.
func (h *house) woken() []string {
	h.mu.Lock()
	defer h.mu.Unlock()
	names := h.awake
	h.awake = nil
	slices.Sort(names)
	return slices.Compact(names)
}

func TestAHundredKindsAreWatchedAndTheNextWaitsForAPlace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var sets []*v1.StatefulSet
		for n := range identity.MostObjectKinds + 2 {
			sets = append(sets, describingThing(n, n))
		}
		house := newHouse(t, nil, nil, sets...)
		// The sets are looked at in another order than they came in.
		for _, set := range slices.Backward(sets) {
			house.observed(t, set)
		}
		for n, set := range sets {
			kinds, watched := house.observed(t, set)
			got := kinds[thing(n).GroupKind()].Refused
			if waits := strings.HasPrefix(got, "at most 100 kinds of objects are watched"); waits != (n >= identity.MostObjectKinds) ||
				watched != identity.MostObjectKinds {
				t.Errorf("kind %d of the sets by age: got refused %q with %d kinds watched, want the first 100 watched and the others refused", n, got,
					watched)
			}
		}
		synctest.Wait()
		house.woken()
		house.remove(sets[7])
		time.Sleep(unusedInterval + time.Second)
		if got, want := house.woken(), "set-100"; !slices.Contains(got, want) || slices.Contains(got, "set-101") {
			t.Errorf("when a kind was not needed any more %q were woken, want %s, and not set-101", got, want)
		}
		kinds, _ := house.observed(t, sets[identity.MostObjectKinds])
		if got := kinds[thing(identity.MostObjectKinds).GroupKind()].Refused; strings.HasPrefix(got, "at most") {
			t.Errorf("the kind that waited: got refused %q, want it watched", got)
		}
		if got, watched := house.observed(t, sets[identity.MostObjectKinds+1]); watched != identity.MostObjectKinds ||
			got[thing(identity.MostObjectKinds+1).GroupKind()].Refused == "" {
			t.Errorf("with the last kind %d kinds are watched, and it is %v, want 100 and it refused", watched, got)
		}
		for _, set := range sets[:10] {
			house.remove(set)
		}
		time.Sleep(unusedInterval + time.Second)
		if got := house.woken(); !slices.Contains(got, "set-101") {
			t.Errorf("when there are places for all %q were woken, want set-101", got)
		}
	})
}

func TestAKindThatIsWatchedKeepsItsPlace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		young := describingThing(999, 999)
		house := newHouse(t, nil, nil, young)
		house.observed(t, young)
		for n := range identity.MostObjectKinds {
			set := describingThing(n, n)
			house.put(set)
			house.observed(t, set)
		}
		time.Sleep(10 * unusedInterval)
		if got, watched := house.observed(t, young); strings.HasPrefix(got[thing(999).GroupKind()].Refused, "at most") ||
			watched != identity.MostObjectKinds {
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
				house := newHouse(t, nil, test.err, describingThing(0, 0))
				for range 3600 {
					known, _ := house.ensureWatch(thing(0), "shop")
					if test.hurried {
						known.kind.requestDiscovery()
					}
					time.Sleep(time.Second)
				}
				if got := house.asked.Load(); got < test.least || got > test.most {
					t.Errorf("the host was asked %d times in an hour, want %d to %d", got, test.least, test.most)
				}
			})
		})
	}
}

func TestAKindIsFoundSoonWhenASetThatDescribesItIsWritten(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		set := describingThing(0, 0)
		house := newHouse(t, nil, nil, set)
		house.observed(t, set)
		time.Sleep(time.Hour)
		before := house.asked.Load()
		house.observed(t, set)
		time.Sleep(10 * time.Second)
		idle := house.asked.Load()
		set = set.DeepCopy()
		set.Generation++
		house.observed(t, set)
		time.Sleep(2 * shortestDiscovery)
		if changed := house.asked.Load(); idle > before+1 || changed == idle {
			t.Errorf("the host was asked %d times, %d after a look at the unchanged set, and %d after it changed, want it asked again only then",
				before, idle, changed)
		}
	})
}
