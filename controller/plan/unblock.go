// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"

	v1 "statefulset.dev/api/apps/v1"
	"statefulset.dev/controller/plan/action"
	"statefulset.dev/controller/plan/words"
)

// reportUnreadyAfter is after how long the controller reports a member that blocks an update, if
// the set does not say when to replace it.
const reportUnreadyAfter = 5 * time.Minute

// unblock replaces, in an ordered set that requests it, a member that is not ready and outdated.
// Bringing up would wait forever for such a member, or for an earlier one that is broken because of
// it, and the update that could fix the member waits for bringing up. The status records the member
// first: only a sync that reads it there removes the pod.
func unblock(f *facts, d *draft) verdict {
	if f.unblocking != nil {
		return replaceUnready(f, d, *f.unblocking)
	}
	m, found := f.strandedNow()
	switch {
	case !found:
		waitForStranded(f, d)
	case !f.replacesUnready():
		at, way := words.Sanitize(revisionOf(m.pod)), "delete it, or set spec.updateStrategy.rollingUpdate.replaceUnreadyAfterSeconds"
		d.warn(v1.ReasonUnreadyMemberBlocks, "%s is not ready at %s, %s; %s", m.pod.Name, at, f.strandedText(m), way)
		d.wait("%s: %s; it is at %s, %s: %s", m.pod.Name, f.diagnose(m), at, f.strandedText(m), way)
	case f.ordered && returnable(f, d, m):
		d.unblock = new(int32(m.ordinal))
		f.reportReplacement(d, m)
	}
	return proceed
}

// waitForStranded says when the next member is replaced, if the set requests that.
func waitForStranded(f *facts, d *draft) {
	m, left := f.nextStranded()
	if left == 0 || !f.replacesUnready() {
		return
	}
	d.requeueAfter(left)
	d.wait("%s: %s; unless it becomes ready, it is replaced at %s", m.pod.Name, f.diagnose(m), words.Timestamp(f.strandedUntil(m)))
}

// replaceUnready removes the pod of the member that the status names, unless that has been done,
// and creates the member again, whether or not earlier members are available: they may wait for it.
func replaceUnready(f *facts, d *draft, m member) verdict {
	if f.isStranded(m) {
		due := f.strandedUntil(m)
		d.requeueAfter(max(due.Sub(f.world.Now), 0))
		if !f.world.Now.Before(due) {
			if removal := removeUnready(f, d, m); len(removal) > 0 {
				d.add(removal...)
				return pause
			}
		}
	}
	bringUpMember(f, d, m)
	return proceed
}

// removeUnready removes the pod of a stranded member or changes it in place, unless the member
// could not be created again.
func removeUnready(f *facts, d *draft, m member) []action.Action {
	if !returnable(f, d, m) {
		return nil
	}
	update := inPlaceOr(f, d, m, action.DeletePod{Reason: action.DeleteUnready})
	if len(update) > 0 {
		f.reportReplacement(d, m)
	}
	return update
}

// isReplacedBelowPartition reports whether a Parallel set replaces a member that its update would
// otherwise leave alone.
func (f *facts) isReplacedBelowPartition(m member) bool {
	return !f.ordered && !f.isAbovePartition(m) && f.replacesUnready() && f.isStranded(m) && !f.world.Now.Before(f.strandedUntil(m))
}

// reportReplacement reports which pod is being replaced, why, and at which revision.
func (f *facts) reportReplacement(d *draft, m member) {
	goal := f.targetRevision(m).name
	d.warn(v1.ReasonReplacingUnreadyMember, "%s is not ready at %s, %s; it is replaced at %s", m.pod.Name, words.Sanitize(revisionOf(m.pod)),
		f.strandedText(m), goal)
	d.wait("%s: %s; it is replaced at %s", m.pod.Name, f.diagnose(m), goal)
}

// strandedText describes the revision of a stranded member for a sentence.
func (f *facts) strandedText(m member) string {
	switch at := revisionOf(m.pod); {
	case at == f.targetRevision(m).name && f.hasOtherClaims(m):
		return "and was created with other claim templates"
	case at == f.targetRevision(m).name:
		return "and was created with another override"
	case f.isRollingBack():
		return "which is being rolled back"
	case at == f.current.name:
		return "which the update replaces"
	case at == f.update.name:
		return "from which the partition excludes it"
	default:
		return "which was superseded"
	}
}

// isStranded reports whether the pod of a member is broken and does not have the revision, the
// claims or the override of its target, so that it is useless to wait for it. A member at the
// current revision may still recover, and is not updated to a revision that has already broken
// another member.
func (f *facts) isStranded(m member) bool {
	if f.world.Set.Spec.UpdateStrategy.Type != v1.RollingUpdateStatefulSetStrategyType || f.isRolloutBlocked() ||
		m.pod == nil || !isBroken(m.pod) ||
		f.goesOnInPlace(m) {
		return false
	}
	at := revisionOf(m.pod)
	return (at != f.targetRevision(m).name || f.hasOtherClaimsOrOverride(m) && f.isDue(m)) && (at != f.current.name || !f.isUpdateBroken)
}

// isBroken reports whether a pod should be ready but is not, for another reason than that the
// controller has taken it out of service.
func isBroken(pod *corev1.Pod) bool {
	return !isTerminating(pod) && !isFinished(pod) && !isReady(pod) && !isUnreadyByController(pod)
}

// strandedUntil is the time from which a stranded member is replaced or reported.
func (f *facts) strandedUntil(m member) time.Time {
	timeout, asked := f.replaceUnreadyAfter()
	if !asked {
		timeout = reportUnreadyAfter
	}
	return brokenSince(m.pod).Add(timeout)
}

// replaceUnreadyAfter is how long the set waits for a stranded member before it replaces the
// member. It is false if the set does not request that. The set does not wait for what an update
// that is being rolled back has broken.
func (f *facts) replaceUnreadyAfter() (wait time.Duration, asked bool) {
	if f.isRollingBack() {
		return 0, true
	}
	rolling := f.rollingUpdate()
	if rolling == nil || rolling.ReplaceUnreadyAfterSeconds == nil {
		return 0, false
	}
	return v1.Seconds(*rolling.ReplaceUnreadyAfterSeconds), true
}

// replacesUnready reports whether the set requests the replacement of stranded members.
func (f *facts) replacesUnready() bool {
	_, asked := f.replaceUnreadyAfter()
	return asked
}

// findStranded finds the stranded members that nothing else replaces: a Parallel set replaces its
// members from the partition on in any case.
func (f *facts) findStranded() {
	f.isUpdateBroken = slices.ContainsFunc(f.members, func(m member) bool {
		return m.pod != nil && isBroken(m.pod) && revisionOf(m.pod) == f.update.name && !f.hasOtherClaimsOrOverride(m) && !f.lacksClaim(m)
	})
	for _, m := range f.members {
		if f.isStranded(m) && (f.ordered || !f.isAbovePartition(m)) {
			f.stranded = append(f.stranded, m)
		}
	}
}

// lacksClaim reports whether the pod of a member has yet to start while one of its claims is
// missing or terminating. That says nothing about the update: an ordered set that waits for another
// member creates no claims for this one.
func (f *facts) lacksClaim(m member) bool {
	if m.pod.Status.Phase != corev1.PodPending {
		return false
	}
	for i := range f.world.Set.Spec.VolumeClaimTemplates {
		if claim := f.claimOf(m, i); claim == nil || claim.DeletionTimestamp != nil {
			return true
		}
	}
	return false
}

// strandedNow is the stranded member that is due now, if there is one. Members at a superseded
// revision come first, because they will not recover; among equals, the lowest ordinal comes first.
func (f *facts) strandedNow() (chosen member, found bool) {
	superseded := func(m member) bool { r := revisionOf(m.pod); return r != f.current.name && r != f.update.name }
	for _, m := range f.stranded {
		due := !f.world.Now.Before(f.strandedUntil(m))
		if due && (!found || superseded(m) && !superseded(chosen)) {
			chosen, found = m, true
		}
	}
	return chosen, found
}

// nextStranded is the stranded member that is due next, and the time until then, zero if there is
// none.
func (f *facts) nextStranded() (next member, left time.Duration) {
	for _, m := range f.stranded {
		if soon := f.strandedUntil(m).Sub(f.world.Now); soon > 0 && (left == 0 || soon < left) {
			next, left = m, soon
		}
	}
	return next, left
}

// findUnblocking finds the member that is being replaced, if the status names one and that is still
// valid.
func (f *facts) findUnblocking() {
	rollout := f.world.Set.Status.Rollout
	if rollout == nil || rollout.Unblocking == nil || rollout.Revision != f.update.name ||
		f.isRolloutBlocked() || !f.ordered || !f.replacesUnready() {
		return
	}
	m := member{ordinal: int(*rollout.Unblocking)}
	if !f.roster.Contains(m.ordinal) {
		return
	}
	if at := slices.IndexFunc(f.members, func(other member) bool { return other.ordinal == m.ordinal }); at >= 0 {
		m = f.members[at]
	}
	if m.pod == nil || !f.isUnblocked(m) {
		f.unblocking = &m
	}
}

// isUnblocked reports whether the set no longer waits for the pod of a member that is replaced out
// of turn: the pod is ready, or takes too long to terminate, or the update is being rolled back and
// has not reached the pod.
func (f *facts) isUnblocked(m member) bool {
	ready := !isTerminating(m.pod) && (isReady(m.pod) || isUnreadyByController(m.pod))
	return ready || f.endsTooLate(m) || f.isRollingBack() && revisionOf(m.pod) == f.current.name
}

// endsTooLate reports whether the pod of a member still exists so long after its deadline that
// other members need not wait for it: its node may be dead.
func (f *facts) endsTooLate(m member) bool {
	return isTerminating(m.pod) && !f.world.Now.Before(f.unblockingDeadline(m))
}

func (f *facts) unblockingDeadline(m member) time.Time {
	timeout, _ := f.replaceUnreadyAfter()
	return m.pod.DeletionTimestamp.Add(timeout)
}

// nextUnblocking is the time until a member is replaced or reported, or until the replacement in
// progress is given up.
func (f *facts) nextUnblocking() time.Duration {
	switch {
	case f.isFrozen():
		return 0
	case f.unblocking == nil:
		_, left := f.nextStranded()
		return left
	case f.unblocking.pod != nil && isTerminating(f.unblocking.pod):
		return max(f.unblockingDeadline(*f.unblocking).Sub(f.world.Now), 0)
	case f.isStranded(*f.unblocking):
		return max(f.strandedUntil(*f.unblocking).Sub(f.world.Now), 0)
	default:
		return 0
	}
}

// unblocks reports whether a member is the one that is being replaced.
func (f *facts) unblocks(m member) bool {
	return f.unblocking != nil && f.unblocking.ordinal == m.ordinal
}

// rolloutOf returns the record of the update for the status, nil if there is none. The record names
// the member that is being replaced: the member that the status names while that is valid, and
// otherwise the member that this sync has chosen.
func rolloutOf(f *facts, d *draft) *v1.RolloutStatus {
	if f.isFrozen() {
		return f.world.Set.Status.Rollout
	}
	unblocking := d.unblock
	if f.unblocking != nil {
		unblocking = new(int32(f.unblocking.ordinal))
	}
	switch {
	case f.rollout != nil:
		next := *f.rollout.next
		next.Unblocking = unblocking
		return &next
	case unblocking != nil:
		return &v1.RolloutStatus{Revision: f.update.name, Unblocking: unblocking}
	default:
		return nil
	}
}
