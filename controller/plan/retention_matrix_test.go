// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"os"
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/types"
)

// TestTheMatrixOfRetentionIsSo plays what happens in each row of the first table in
// docs/supporting-objects.md, with the retention of each column, and compares what becomes of the object of
// the second member.
func TestTheMatrixOfRetentionIsSo(t *testing.T) {
	fates := fatesOfObjects("objects=conf,count retention=Retain", "objects=conf,count retention=Delete:20",
		"objects=conf,count retention=Delete")
	fates.expect(t, map[string][]string{
		"its member is scaled in":              {"set replicas=1", "settle"},
		"its member comes back":                {"set replicas=1", "settle", "wait 10s", "settle", "set replicas=2", "settle"},
		"its pod is replaced, evicted or lost": {"kill web-1", "gone web-1", "settle", "replace web-1", "settle"},
		"its template is removed":              {"set objects=count", "settle", "set replicas=1", "settle"},
		"the set is deleted":                   {"deleteset"},
		"the set comes again":                  {"deleteset", "look", "newset", "settle"},
		"`kubectl sts replace --new-claims` gives its member new claims": {
			"set claims=www volumeClaimUpdate=NewClaims", "settle", "dropclaim www-web-1", "kill web-1", "gone web-1", "settle"},
		"`kubectl sts reclaim --objects` runs for its removed member": {"set replicas=1", "settle", "dropobject ConfigMap/web-1-conf", "settle"},
	})
}

// TestTheMatrixOfTheSetsEndIsSo does so for the second table.
func TestTheMatrixOfTheSetsEndIsSo(t *testing.T) {
	gone := []string{"deleteset", "look", "newset", "set objects=none replicas=0", "gc", "gc"}
	fates := fatesOfObjects("objects=conf,count retention=Retain/Retain", "objects=conf,count retention=Retain/Delete")
	fates.expect(t, map[string][]string{
		"the set is deleted": gone,
		"the set is deleted, and its member had been scaled in": slices.Concat([]string{"set replicas=1", "settle"}, gone),
		"the set is deleted without what belongs to it":         slices.Concat([]string{"orphan web-0 web-1", "orphanrevisions"}, gone),
		"the set comes again": {
			"deleteset", "look", "kill web-0 web-1", "gone web-0 web-1", "newset", "look", "gc", "gc", "settle"},
	})
}

// TestTheMatrixOfClaimsIsSo does so for the claim of the second member, and the table of whenScaled in
// docs/claims.md.
func TestTheMatrixOfClaimsIsSo(t *testing.T) {
	fates := fatesOfClaims("claims=www", "claims=www scaledAfterSeconds=20", "claims=www whenScaled=Delete")
	fates.expect(t, map[string][]string{
		"its member is scaled in":       {"set replicas=1", "settle"},
		"its ordinal is reserved":       {"set reserved=1", "settle"},
		"its member comes back at once": {"set replicas=1", "settle", "set replicas=2", "settle"},
		"its member comes back when that is done": {
			"set replicas=1", "settle", "gc", "wait 20s", "look", "gc", "set replicas=2", "settle"},
		"its pod is replaced, evicted or lost": {"kill web-1", "gone web-1", "settle", "replace web-1", "settle"},
		"`kubectl sts replace --new-claims` runs for its member": {
			"killclaim www-web-1", "kill web-1", "gone web-1", "dropclaim www-web-1", "settle"},
		"`kubectl sts reclaim` runs for its removed member": {"set replicas=1", "settle", "dropclaim www-web-1", "settle"},
	})
}

// TestTheMatrixOfClaimsOfTheSetsEndIsSo does so for the table of whenDeleted.
func TestTheMatrixOfClaimsOfTheSetsEndIsSo(t *testing.T) {
	fates := fatesOfClaims("claims=www", "claims=www whenDeleted=Delete")
	fates.expect(t, map[string][]string{
		"the set is deleted": {"deleteset", "look", "kill web-0 web-1", "gone web-0 web-1", "newset", "set replicas=0", "gc", "gc"},
		"the set is deleted, and its member had been scaled in": {
			"set replicas=1", "settle", "deleteset", "look", "kill web-0", "gone web-0", "newset", "set replicas=0", "gc", "gc"},
		"the set comes again": {"deleteset", "look", "kill web-0 web-1", "gone web-0 web-1", "newset", "look", "gc", "gc", "settle"},
	})
}

// fates are what becomes of one object, with each of some settings of the set.
type fates struct {
	page     string
	settings []string
	find     func(*stage) types.UID
}

func fatesOfObjects(settings ...string) fates {
	return fates{"../../docs/supporting-objects.md", settings, func(s *stage) types.UID {
		if object := s.objects[keyOf("ConfigMap/web-1-conf")]; object != nil {
			return object.UID
		}
		return ""
	}}
}

func fatesOfClaims(settings ...string) fates {
	return fates{"../../docs/claims.md", settings, func(s *stage) types.UID {
		if claim := s.claims["www-web-1"]; claim != nil {
			return claim.UID
		}
		return ""
	}}
}

// expect compares rows of the page with what happens.
func (f fates) expect(t *testing.T, events map[string][]string) {
	t.Helper()
	content, err := os.ReadFile(f.page)
	if err != nil {
		t.Fatal(err)
	}
	for event, commands := range events {
		var got []string
		for _, settings := range f.settings {
			got = append(got, f.whatBecomes(t, settings, commands))
		}
		row := "| " + event + " | " + strings.Join(got, " | ") + " |\n"
		if !strings.Contains(string(content), row) {
			t.Errorf("%s has no row\n%swhich is what happens", f.page, row)
		}
	}
}

// whatBecomes says what becomes of the object by some commands, and in the half minute after them.
func (f fates) whatBecomes(t *testing.T, settings string, commands []string) string {
	t.Helper()
	s := &stage{host: newHost(t, Compute)}
	do := func(commands ...string) types.UID {
		for _, command := range commands {
			words := strings.Fields(command)
			s.tell(words)
		}
		return f.find(s)
	}
	before := do("set replicas=2 "+settings, "settle")
	do(commands...)
	soon := do("wait 1s", "look", "gc")
	late := do("wait 30s", "look", "gc")
	switch {
	case before == "":
		t.Fatalf("there is no object:\n%s", s.story())
		return ""
	case soon == before && late == before:
		return "stays"
	case soon == before && late == "":
		return "is deleted when due"
	case soon == "" && late == "":
		return "is deleted"
	default:
		return "is recreated"
	}
}
