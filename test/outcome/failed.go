// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package outcome

import (
	v1 "statefulset.dev/api/apps/v1"
)

// failed is the oracle for failurePolicy Rollback: a failed update is rolled back, so no set is
// left with members that never were available at its template after it has run another version
// (docs/rollouts.md).
type failed struct {
	versions
	// asked is true if the policy has been Rollback since all members were available.
	asked bool
	// decided is true if a user has made a decision about the update, which then belongs to the
	// user.
	decided bool
	// emptied is true if the set has had no members since the update began, ready if a member was
	// ready at the new version.
	emptied, ready bool
}

func newFailed() *failed { return &failed{versions: newVersions()} }

func (*failed) name() string { return "rollback" }

func (o *failed) changed(_ *Judge, _, after *Scene, by Actor) { //nolint:gocyclo // each condition is one reason to say nothing
	whole := o.whole
	template := o.template
	o.see(after, by)
	set := after.Set
	if set == nil {
		return
	}
	rolling := rollingOf(set)
	asks := rolling != nil && !rolling.IsPaused() && rolling.FailurePolicy != nil && *rolling.FailurePolicy == v1.RollbackRolloutFailurePolicy
	o.asked = asks && (o.asked || o.template == o.whole)
	if o.template != template || o.whole != whole || o.template == o.whole {
		o.decided, o.emptied, o.ready = false, false, false
	}
	record := decided(set)
	o.decided = o.decided || record.PromotedAll || record.PromotedStep > 0 || record.Aborted
	o.emptied = o.emptied || replicas(set) == 0
	for _, pod := range after.Pods {
		o.ready = o.ready || version(&pod.Spec) == o.template && isReady(pod)
	}
}

func (o *failed) rested(j *Judge, now *Scene) {
	if !works(now.Set) || !o.asked || o.decided || o.mayBe || !o.clear(now.Set) || len(decided(now.Set).Superseded) > 0 {
		return
	}
	for _, n := range desired(now.Set) {
		pod := now.podOf(n)
		if pod != nil && pod.DeletionTimestamp != nil {
			return
		}
	}
	for _, n := range desired(now.Set) {
		if pod := now.podOf(n); pod != nil && version(&pod.Spec) == o.template && !now.isAvailable(pod) {
			j.broken(o, "does not happen %s: member %d is not available at %s, although the set was complete at %s", o.circumstances(), n, o.template, o.whole)
			return
		}
	}
}

func (o *failed) circumstances() string {
	switch {
	case o.emptied:
		return "after a scale to 0"
	case o.ready:
		return "although members were ready only for a moment"
	default:
		return "at all"
	}
}
