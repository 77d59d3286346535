// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"os"
	"reflect"
	"regexp"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"statefulset.dev/identity"
)

func TestThePackageCommentListsTheRulesInTheirOrder(t *testing.T) {
	comment, err := os.ReadFile("doc.go")
	if err != nil {
		t.Fatalf("reading the package comment: %v", err)
	}
	var got, want []string
	for _, line := range regexp.MustCompile(`(?m)^//\t(\S+( \S+)*)  +\S`).FindAllStringSubmatch(string(comment), -1) {
		got = append(got, line[1])
	}
	for _, rule := range rules() {
		want = append(want, rule.name)
	}
	if !slices.Equal(got, want) {
		t.Errorf("the package comment lists the rules\n%q\nwant\n%q", got, want)
	}
}

func TestRulesAndStatusChangeNoFacts(t *testing.T) {
	drawing(t, 200)
	rapid.Check(t, func(t *rapid.T) {
		playDrawn(t, func(world World) Plan {
			reads := &reader{known: world.Cache}
			f, before := survey(world, reads), survey(world, reads)
			d := newDraft(f, reads)
			d.decide(f)
			report(f, d)
			for _, facts := range []*facts{f, before} { // transforms are compiled when they are needed
				facts.overrides, facts.supporting.overrides = nil, nil
				facts.supporting.templates, facts.supporting.inCreationOrder, facts.supporting.podNamed = nil, nil, nil
				for place, s := range facts.supporting.places {
					s.template = identity.Object{}
					facts.supporting.places[place] = s
				}
			}
			if !reflect.DeepEqual(f, before) {
				t.Fatalf("facts after the rules: got\n%+v\nwant what they were before:\n%+v", f, before)
			}
			return Compute(world)
		}, "", theme{})
	})
}
