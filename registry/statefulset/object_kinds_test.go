// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package statefulset

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "statefulset.dev/api/apps/v1"
	"statefulset.dev/identity"
	"statefulset.dev/registry/statefulset/settest"
)

// ofKinds is a set as it is stored at a resource version, with a template of each kind.
func ofKinds(name string, version int, kinds ...string) *v1.StatefulSet {
	return settest.Changed(func(s *v1.StatefulSet) {
		s.Name, s.ResourceVersion = name, fmt.Sprint(version)
		for _, kind := range kinds {
			s.Spec.ObjectTemplates = append(s.Spec.ObjectTemplates,
				objectTemplate(strings.ToLower(kind),
					fmt.Sprintf(`{"apiVersion":"example.com/v1","kind":%q,"metadata":{"name":"$(IDENTITY)-a"}}`, kind)))
		}
	})
}

func TestTheKindsOfStoredSetsAreKnown(t *testing.T) {
	deleted := func(set *v1.StatefulSet) *v1.StatefulSet { set.DeletionTimestamp = new(metav1.Now()); return set }
	for sentence, test := range map[string]struct {
		happens func(t *testing.T, o *ObjectKinds)
		want    string
	}{
		"a list tells the kinds of its sets": {func(t *testing.T, o *ObjectKinds) {
			replace(t, o, 5, ofKinds("a", 3, "A", "B"), ofKinds("b", 4, "B"))
		}, "A B"},
		"a kind stays as long as one set has it": {func(t *testing.T, o *ObjectKinds) {
			replace(t, o, 5, ofKinds("a", 3, "A", "B"), ofKinds("b", 4, "B"))
			happened(t, o.Delete(ofKinds("a", 6)), o.Update(ofKinds("c", 7, "C")))
		}, "B C"},
		"a change takes what a set had before": {func(t *testing.T, o *ObjectKinds) {
			happened(t, o.Add(ofKinds("a", 3, "A", "B")), o.Update(ofKinds("a", 4, "B", "C")))
		}, "B C"},
		"a set without objects has no kinds": {func(t *testing.T, o *ObjectKinds) {
			happened(t, o.Add(ofKinds("a", 3, "A")), o.Update(ofKinds("a", 4)))
		}, ""},
		"what was written counts before the store shows it": {func(t *testing.T, o *ObjectKinds) {
			happened(t, o.Add(ofKinds("a", 3, "A")))
			o.wrote(ofKinds("b", 5, "B"))
		}, "A B"},
		"what the store shows of before a write changes nothing": {func(t *testing.T, o *ObjectKinds) {
			o.wrote(ofKinds("a", 5, "B"))
			happened(t, o.Update(ofKinds("a", 4, "A")), o.Delete(ofKinds("a", 3)))
		}, "B"},
		"a set that the store has shown as deleted already does not come back by its write": {func(t *testing.T, o *ObjectKinds) {
			happened(t, o.Add(ofKinds("a", 5, "A")), o.Delete(ofKinds("a", 6)))
			o.wrote(ofKinds("a", 5, "A"))
		}, ""},
		"a set that goes with its last finalizer is not counted by that write": {func(_ *testing.T, o *ObjectKinds) {
			o.wrote(deleted(ofKinds("a", 5, "A")))
		}, ""},
		"a list drops what it does not have, but what was written since": {func(t *testing.T, o *ObjectKinds) {
			happened(t, o.Add(ofKinds("a", 3, "A")))
			o.wrote(ofKinds("b", 9, "B"))
			replace(t, o, 7, ofKinds("c", 4, "C"))
		}, "B C"},
		"a removed template counts as long as its objects are there": {func(t *testing.T, o *ObjectKinds) {
			set := ofKinds("a", 3, "A")
			set.Status.ObjectTemplates = []v1.ObjectTemplateStatus{
				{Name: "b", Kind: "B.example.com", APIVersion: "example.com/v1", RemovedAt: new(metav1.Now())}}
			happened(t, o.Add(set))
		}, "A B"},
	} {
		t.Run(sentence, func(t *testing.T) {
			kinds := newObjectKinds()
			test.happens(t, kinds)
			var got []string
			for _, kind := range kinds.used() {
				got = append(got, kind.Kind)
			}
			slices.Sort(got)
			if got := strings.Join(got, " "); got != test.want {
				t.Errorf("got kinds %q, want %q", got, test.want)
			}
		})
	}
}

func replace(t *testing.T, o *ObjectKinds, version int, sets ...*v1.StatefulSet) {
	t.Helper()
	all := make([]any, len(sets))
	for i := range sets {
		all[i] = sets[i]
	}
	happened(t, o.Replace(all, fmt.Sprint(version)))
}

func happened(t *testing.T, errs ...error) {
	t.Helper()
	for _, err := range errs {
		if err != nil {
			t.Fatal(err)
		}
	}
}

func TestWritesThatAreUnderWayCount(t *testing.T) {
	kinds := newObjectKinds()
	var all []*v1.StatefulSet
	for n := range identity.MostObjectKinds - 1 {
		all = append(all, ofKinds(fmt.Sprintf("s%d", n), n+1, fmt.Sprintf("K%d", n)))
	}
	replace(t, kinds, 1000, all...)
	first, second := &kindClaim{of: kinds}, &kindClaim{of: kinds}
	if err := first.check(t.Context(), ofKinds("a", 0, "A"), nil); err != nil {
		t.Fatalf("the hundredth kind: got error %v, want none", err)
	}
	if err := second.check(t.Context(), ofKinds("b", 0, "B"), nil); err == nil || !strings.Contains(err.Error(), "at most 100 kinds") {
		t.Errorf("another kind while the hundredth is written: got error %v, want it refused", err)
	}
	if err := second.check(t.Context(), ofKinds("b", 0, "A"), nil); err != nil {
		t.Errorf("the same kind while it is written: got error %v, want none", err)
	}
	second.release()
	first.release()
	if err := second.check(t.Context(), ofKinds("b", 0, "B"), nil); err != nil {
		t.Errorf("another kind after the first write was refused: got error %v, want none", err)
	}
	if err := second.check(t.Context(), ofKinds("b", 0, "B"), nil); err != nil {
		t.Errorf("the same write again: got error %v, want none", err)
	}
}

func TestWritesThatAddAKindAreRefusedUntilTheSetsAreListed(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	kinds := newObjectKinds()
	claim := &kindClaim{of: kinds}
	if err := claim.check(ctx, ofKinds("a", 0, "A"), nil); err == nil ||
		!strings.Contains(err.Error(), "does not know yet which kinds of objects") {
		t.Errorf("a write with a new kind: got error %v, want it refused for now", err)
	}
	if err := claim.check(ctx, ofKinds("a", 0, "A"), ofKinds("a", 0, "A")); err != nil {
		t.Errorf("a write without a new kind: got error %v, want none", err)
	}
}
