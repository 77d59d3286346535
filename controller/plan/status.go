// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"

	v1 "statefulset.dev/api/apps/v1"
	"statefulset.dev/identity/conditions"
)

// report is the status of a set before any planned action is carried out, and the time after which
// the status changes without other changes, zero if it never does.
func report(f *facts, d *draft) (status v1.StatefulSetStatus, says conditions.Conditions, requeueAfter time.Duration) {
	status = counted(f, d)
	recreating := recreateCondition(f, d)
	if isComplete(f, &status) {
		status.CurrentReplicas, status.CurrentRevision = status.UpdatedReplicas, status.UpdateRevision
		if recreating != nil {
			recreating = progressingCondition(corev1.ConditionFalse, v1.ReasonRecreateCompleted, "all pods run the update revision")
		}
	}
	if f.supporting.awaitsCompletion(&status) {
		d.requeueAfter(time.Second)
	}
	open := openWork(f, d)
	status.LastProgressTime = lastProgress(f, &status, open)
	overdue, left := overdue(f, &status, open)
	says = conditionsOf(f, workState{open: open, stalled: first(d.stalled, overdue), overdue: overdue, recreating: recreating})
	status.Conditions = says.Put(f.world.Set.Status.Conditions, f.world.Now)
	next := soonest(soonest(f.nextAvailability(), f.nextSuspicion()), soonest(f.nextUnblocking(), f.nextRate()))
	next = soonest(next, soonest(f.nextStepSync(), f.nextGate()))
	next = soonest(next, soonest(f.nextOverdue(), soonest(f.nextDrain(), d.nextRight())))
	return status, says, soonest(next, soonest(left, d.retry))
}

// counted is the part of the status about revisions and numbers of pods. As in apps/v1, pods that
// are about to be removed for an update no longer count as current.
func counted(f *facts, d *draft) v1.StatefulSetStatus {
	status := v1.StatefulSetStatus{
		ObservedGeneration: f.world.Set.Generation,
		CollisionCount:     new(f.collisions),
		CurrentRevision:    f.current.name,
		UpdateRevision:     f.update.name,
		Rollout:            rolloutOf(f, d),
		VolumeClaims:       volumeClaims(f),
		Replacements:       replacementsOf(f),
		Reclaims:           reclaims(f),
		ObjectTemplates:    f.supporting.statuses(),
		UserActions:        userActions(f),
	}
	if ordinals := f.world.Set.Spec.Ordinals; ordinals != nil && len(ordinals.Reserved) > 0 {
		status.Ordinals = f.roster.Ranges()
	}
	if f.isFrozen() {
		status.CollisionCount = f.world.Set.Status.CollisionCount
	}
	for m := range f.all() {
		if m.pod != nil {
			f.count(&status, m.pod)
		}
	}
	status.CurrentReplicas -= d.replaced
	return status
}

func (f *facts) count(status *v1.StatefulSetStatus, pod *corev1.Pod) {
	status.Replicas++
	if isReady(pod) {
		status.ReadyReplicas++
		if f.isAvailable(pod) {
			status.AvailableReplicas++
		}
	}
	if isTerminating(pod) {
		return
	}
	revision := revisionOf(pod)
	if revision == f.current.name {
		status.CurrentReplicas++
	}
	if revision == f.update.name {
		status.UpdatedReplicas++
	}
}

// isComplete reports whether exactly the desired members exist, are ready and updated, and are not
// being changed, so that the update revision becomes the current one.
func isComplete(f *facts, status *v1.StatefulSetStatus) bool {
	wanted := int32(f.roster.Len())
	if f.rollout != nil && !f.mayComplete(status) {
		return false
	}
	if f.history.index(f.update.name) < 0 && f.world.Set.DeletionTimestamp == nil {
		return false // a current revision needs a record
	}
	restarts := slices.ContainsFunc(f.members, func(m member) bool { return isRestarting(m.pod) })
	return !f.isFrozen() && !restarts && len(f.condemned) == 0 && status.UpdatedReplicas == wanted && status.ReadyReplicas == wanted &&
		status.Replicas == wanted
}

// mayComplete reports whether an update with a record may become complete: all members are
// available, and not only ready. A paused update never completes, because members that are created
// later get the previous revision. An update by steps completes after all its steps. Without
// members no update can fail, so an update that would be rolled back on failure does not complete
// then.
func (f *facts) mayComplete(status *v1.StatefulSetStatus) bool {
	ended := f.rollout.stored.Aborted || f.rollout.stored.Rollback
	wanted := int32(f.roster.Len())
	untried := wanted == 0 && f.rollsBackOnFailure()
	return !ended && !untried && !f.isPaused() && !f.rollout.progress.inSteps && status.AvailableReplicas == wanted
}
