// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package plan

// rule is one concern of the planner.
type rule struct {
	name  string
	apply func(*facts, *draft) verdict
	// whileWaiting is true for a rule that applies even while members have to wait.
	whileWaiting bool
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
		{name: "hold", apply: requireActive},
		{name: "name", apply: requireUniqueName},
		{name: "handover", apply: awaitRevisions},
		{name: "rollout", apply: reportRollout},
		{name: "revisions", apply: recordTemplate},
		{name: "membership", apply: keepMembership},
		{name: "claim owners", apply: keepClaimOwners, whileWaiting: true},
		{name: "recreate", apply: removeOld},
		{name: "claims", apply: updateClaims},
		{name: "in place", apply: goOnInPlace},
		{name: "unblock", apply: unblock},
		{name: "asked", apply: replaceBrokenRequested},
		{name: "bring up", apply: bringUp},
		{name: "scale down", apply: scaleDown},
		{name: "update", apply: updateMembers},
		{name: "replace", apply: replaceRequested},
		{name: "gates", apply: settleGates, whileWaiting: true},
		{name: "drain", apply: putIntoService, whileWaiting: true},
		{name: "parameters", apply: keepReplicas, whileWaiting: true},
		{name: "anchor", apply: keepAnchor, whileWaiting: true},
		{name: "objects", apply: keepObjects, whileWaiting: true},
		{name: "owners", apply: keepObjectOwners, whileWaiting: true},
		{name: "secrets", apply: recordSecrets, whileWaiting: true},
		{name: "shape", apply: reportShape, whileWaiting: true},
		{name: "service", apply: reportService, whileWaiting: true},
		{name: "reclaim", apply: reclaim, whileWaiting: true},
		{name: "retention", apply: retireObjects, whileWaiting: true},
		{name: "history", apply: truncateHistory, whileWaiting: true},
	}
}

// newDraft is a draft in which no rule has decided anything.
func newDraft(f *facts, reads *reader) *draft {
	return &draft{reads: reads, pods: f.overrides.PodMaker(), budget: f.disruptionBudget()}
}

// decide applies the rules to the facts.
func (d *draft) decide(f *facts) {
	membersWait := false
	for _, rule := range rules() {
		if membersWait && !rule.whileWaiting {
			continue
		}
		verdict := rule.apply(f, d)
		if verdict == stop {
			break
		}
		membersWait = membersWait || verdict == pause
	}
}
