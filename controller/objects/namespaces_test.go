// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package objects

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	v1 "statefulset.dev/api/apps/v1"
	"statefulset.dev/identity"
)

// TestWatchesEndWithTheSetsOfTheirNamespace has as many kinds and namespaces as there may be.
func TestWatchesEndWithTheSetsOfTheirNamespace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var namespaces identity.ObjectNamespaces
		var sets []*v1.StatefulSet
		for space := range identity.MostObjectNamespaces {
			namespaces = append(namespaces, fmt.Sprintf("team-%02d", space))
			for n := range identity.MostObjectKinds + 1 {
				set := describingThing(n, n)
				set.Namespace = namespaces[space]
				sets = append(sets, set)
			}
		}
		house := newHouse(t, namespaces, nil, sets...)
		for _, set := range sets {
			house.observed(t, set)
		}
		const most = identity.MostObjectKinds * identity.MostObjectNamespaces
		if got := house.watches(); got != most {
			t.Errorf("%d kinds in each of %d namespaces: got %d watches, want %d", identity.MostObjectKinds+1, len(namespaces), got, most)
		}
		for _, set := range sets {
			if set.Namespace == namespaces[0] || set.Name == "set-007" {
				house.remove(set)
			}
		}
		time.Sleep(unusedInterval + time.Second)
		synctest.Wait()
		if got, want := house.watches(), most-identity.MostObjectKinds-identity.MostObjectNamespaces+1; got != want {
			t.Errorf("after the sets of a namespace and those with a kind were deleted: got %d watches, want %d", got, want)
		}
		if woken := house.woken(); !slices.Contains(woken, "set-100") {
			t.Errorf("the sets %q were woken, want those among them whose kind had no place", woken)
		}
	})
}

// watches is how many watches there are.
func (h *house) watches() (count int) {
	h.Watcher.mu.Lock()
	defer h.Watcher.mu.Unlock()
	for _, kind := range h.watched {
		count += len(kind.watches)
	}
	return count
}

// A kind that only sets outside of the namespaces describe takes no place from others.
func TestKindsOutsideOfTheNamespacesTakeNoPlace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var sets []*v1.StatefulSet
		for n := range identity.MostObjectKinds + 1 {
			set := describingThing(n, n)
			if n == 0 {
				set.Namespace = "elsewhere"
			}
			sets = append(sets, set)
		}
		namespaces := identity.ObjectNamespaces{"shop"}
		house := newHouse(t, namespaces, nil, sets...)
		for n, set := range sets {
			kinds, _ := house.observed(t, set)
			got, outside := kinds[thing(n).GroupKind()].Refused, Excluded(namespaces, "elsewhere")
			if (got == outside) != (n == 0) || strings.HasPrefix(got, "at most") {
				t.Errorf("kind %d: got refused %q, want %q of the set outside, and the others watched", n, got, outside)
			}
		}
	})
}
