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
	expectMatrix(t, []string{"Retain", "Delete:20", "Delete"}, map[string][]string{
		"its member is scaled in":              {"set replicas=1", "settle"},
		"its member comes back":                {"set replicas=1", "settle", "wait 10s", "settle", "set replicas=2", "settle"},
		"its pod is replaced, evicted or lost": {"kill web-1", "gone web-1", "settle", "replace web-1", "settle"},
		"its template is removed":              {"set objects=count", "settle", "set replicas=1", "settle"},
		"the set is deleted":                   {"deleteset"},
		"the set comes again":                  {"deleteset", "look", "newset", "settle"},
	})
}

// TestTheMatrixOfTheSetsEndIsSo does so for the second table.
func TestTheMatrixOfTheSetsEndIsSo(t *testing.T) {
	gone := []string{"deleteset", "look", "newset", "set objects=none replicas=0", "gc", "gc"}
	expectMatrix(t, []string{"Retain/Retain", "Retain/Delete"}, map[string][]string{
		"the set is deleted": gone,
		"the set is deleted, and its member had been scaled in": slices.Concat([]string{"set replicas=1", "settle"}, gone),
		"the set is deleted without what belongs to it":         slices.Concat([]string{"orphan web-0 web-1", "orphanrevisions"}, gone),
		"the set comes again":                                   {"deleteset", "look", "kill web-0 web-1", "gone web-0 web-1", "newset", "look", "gc", "gc", "settle"},
	})
}

// expectMatrix compares rows of the page with what happens.
func expectMatrix(t *testing.T, columns []string, events map[string][]string) {
	t.Helper()
	const page = "../../docs/supporting-objects.md"
	content, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	for event, commands := range events {
		var got []string
		for _, retention := range columns {
			got = append(got, whatBecomes(t, retention, commands))
		}
		row := "| " + event + " | " + strings.Join(got, " | ") + " |\n"
		if !strings.Contains(string(content), row) {
			t.Errorf("%s has no row\n%swhich is what happens", page, row)
		}
	}
}

// whatBecomes says what becomes of an object by some commands, and in the half minute after them.
func whatBecomes(t *testing.T, retention string, commands []string) string {
	t.Helper()
	s := &stage{host: newHost(t, Compute)}
	do := func(commands ...string) (uid types.UID) {
		for _, command := range commands {
			words := strings.Fields(command)
			s.tell(words)
		}
		if object := s.objects[keyOf("ConfigMap/web-1-conf")]; object != nil {
			return object.UID
		}
		return ""
	}
	before := do("set replicas=2 objects=conf,count retention="+retention, "settle")
	do(commands...)
	soon := do("wait 1s", "look")
	late := do("wait 30s", "look")
	switch {
	case before == "":
		t.Fatalf("there is no object:\n%s", s.story())
		return ""
	case soon == before && late == before:
		return "stays"
	case soon == before && late == "":
		return "goes when due"
	case soon == "" && late == "":
		return "goes"
	default:
		return "is made anew"
	}
}
