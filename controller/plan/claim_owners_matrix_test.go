// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"fmt"
	"slices"
	"testing"
)

// TestTheMatricesOfClaimsHoldWithAnUnreadyMember plays rows of both tables in docs/claims.md with
// each of three members unready, and compares what becomes of the claim of the second one.
func TestTheMatricesOfClaimsHoldWithAnUnreadyMember(t *testing.T) {
	deleted := []string{"deleteset", "look", "kill web-0 web-1 web-2", "gone web-0 web-1 web-2", "newset", "set replicas=0", "gc", "gc"}
	for _, order := range []string{"", " policy=Parallel"} {
		for position := range 3 {
			unready := func(commands ...string) []string {
				return slices.Concat([]string{fmt.Sprintf("unready web-%d", position)}, commands)
			}
			t.Run(fmt.Sprintf("web-%d%s", position, order), func(t *testing.T) {
				members := " replicas=3" + order
				scaled := fatesOfClaims("claims=www"+members, "claims=www scaledAfterSeconds=20"+members,
					"claims=www whenScaled=Delete"+members)
				scaled.expect(t, map[string][]string{
					"its member is scaled in":                              unready("set replicas=1", "look", "look", "ready web-0", "settle"),
					"its scale-in is taken back before its pod is removed": unready("set replicas=1", "look", "set replicas=3", "look", "look", "settle"),
					"its pod is replaced, evicted or lost": unready("look", "kill web-1", "gone web-1", "look", "ready web-0", "settle",
						"replace web-1", "settle"),
				})
				atEnd := fatesOfClaims("claims=www"+members, "claims=www whenDeleted=Delete"+members)
				atEnd.expect(t, map[string][]string{
					"the set is deleted": unready(append([]string{"look"}, deleted...)...),
					"`whenDeleted` was set to `Retain` before, and the set is deleted": unready(slices.Concat(
						[]string{"set whenDeleted=Retain", "look"}, deleted)...),
				})
			})
		}
	}
}

// TestASetThatNowRetainsKeepsClaimsOfRemovedMembers does so for members that have no pod when the
// policy changes.
func TestASetThatNowRetainsKeepsClaimsOfRemovedMembers(t *testing.T) {
	fate := fatesOfClaims().whatBecomes(t, "claims=www whenDeleted=Delete replicas=3", []string{
		"set replicas=1", "settle", "unready web-0", "set whenDeleted=Retain", "look",
		"deleteset", "look", "kill web-0", "gone web-0", "newset", "set replicas=0", "gc", "gc",
	})
	if fate != "stays" {
		t.Errorf("the claim of a removed member: got %q, want that it stays", fate)
	}
}
