// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package plan

// rule is one concern of the planner.
type rule struct {
	name  string
	apply func(*facts, *draft) verdict
	// aside is true for a rule that applies even while members have to wait.
	aside bool
}

// verdict is what a rule decides about the rules after it.
type verdict int

const (
	// proceed continues with the next rule.
	proceed verdict = iota
	// pause skips the following rules that are about members.
	pause
	// stop skips all following rules: the world must change before anything else can be decided.
	stop
)

// rules are all rules in the order in which they are applied; the package comment describes them.
func rules() []rule {
	return []rule{
		{name: "reach", apply: skipUnreached},
		{name: "selector", apply: requireSelector},
		{name: "hold", apply: leaveAlone},
		{name: "name", apply: shareNoName},
		{name: "handover", apply: awaitRevisions},
		{name: "rollout", apply: tellRollout},
		{name: "revisions", apply: recordTemplate},
		{name: "membership", apply: keepMembership},
		{name: "claim owners", apply: keepClaimOwners, aside: true},
		{name: "recreate", apply: removeOld},
		{name: "claims", apply: updateClaims},
		{name: "in place", apply: goOnInPlace},
		{name: "unblock", apply: unblock},
		{name: "asked", apply: replaceBrokenAsked},
		{name: "bring up", apply: bringUp},
		{name: "scale down", apply: scaleDown},
		{name: "update", apply: rollOut},
		{name: "replace", apply: replaceAsked},
		{name: "gates", apply: settleGates, aside: true},
		{name: "drain", apply: putIntoService, aside: true},
		{name: "parameters", apply: keepReplicas, aside: true},
		{name: "anchor", apply: keepAnchor, aside: true},
		{name: "objects", apply: keepObjects, aside: true},
		{name: "owners", apply: releaseObjects, aside: true},
		{name: "secrets", apply: tellClaims, aside: true},
		{name: "shape", apply: tellShape, aside: true},
		{name: "service", apply: tellService, aside: true},
		{name: "reclaim", apply: reclaim, aside: true},
		{name: "retention", apply: retireObjects, aside: true},
		{name: "history", apply: truncateHistory, aside: true},
	}
}

// newDraft is a draft in which no rule has decided anything.
func newDraft(f *facts, reads *reader) *draft {
	return &draft{reads: reads, pods: f.overrides.PodMaker(), purse: f.purse()}
}

// decide applies the rules to the facts.
func (d *draft) decide(f *facts) {
	membersWait := false
	for _, rule := range rules() {
		if membersWait && !rule.aside {
			continue
		}
		verdict := rule.apply(f, d)
		if verdict == stop {
			break
		}
		membersWait = membersWait || verdict == pause
	}
}
