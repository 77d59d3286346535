// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"time"

	corev1 "k8s.io/api/core/v1"

	v1 "statefulset.dev/api/apps/v1"
)

// patience is for how long a member must not have been ready before it is replaced out of
// turn, and false if the set does not ask for that.
func (f evidence) patience() (time.Duration, bool) {
	rolling := f.Set.Spec.UpdateStrategy.RollingUpdate
	if f.strategy() != v1.RollingUpdateStatefulSetStrategyType || rolling == nil || rolling.ReplaceUnreadyAfterSeconds == nil {
		return 0, false
	}
	return time.Duration(*rolling.ReplaceUnreadyAfterSeconds) * time.Second, true
}

// unreadySince is since when a pod that is to serve does not, and false if it does.
func unreadySince(pod *corev1.Pod) (time.Time, bool) {
	if _, ok := ready(pod); ok || excused(pod) || pod.DeletionTimestamp != nil || pod.Status.Phase == corev1.PodFailed ||
		pod.Status.Phase == corev1.PodSucceeded {
		return time.Time{}, false
	}
	return failingSince(pod), true
}

// failingSince is since when a pod that is not ready was to be so.
func failingSince(pod *corev1.Pod) time.Time {
	since := pod.CreationTimestamp.Time
	for _, condition := range pod.Status.Conditions {
		if condition.Type == corev1.PodReady {
			since = condition.LastTransitionTime.Time
		}
	}
	for _, condition := range pod.Status.Conditions { // as long as we kept it from service it was not to serve
		if string(condition.Type) == inServiceType && hasServiceGate(pod) && condition.LastTransitionTime.After(since) {
			since = condition.LastTransitionTime.Time
		}
	}
	return since
}

// goal is the revision that a member is to have.
func (j *judged) goal(ordinal int) string {
	if j.goesBack() || j.byRecord() && !j.isReached(ordinal) {
		return j.currentRevision(j.plan.Status.UpdateRevision)
	}
	if !j.isAbovePartition(ordinal) {
		return j.currentRevision(j.plan.Status.UpdateRevision)
	}
	return j.plan.Status.UpdateRevision
}

// named is the ordinal of the member that the status before the plan says is being
// replaced at the present revision, -1 if it says so of none.
func (j *judged) named() int {
	rollout := j.Set.Status.Rollout
	if j.rests() || rollout == nil || rollout.Unblocking == nil || rollout.Revision != j.plan.Status.UpdateRevision {
		return -1
	}
	if _, asked := j.patience(); !asked || !j.ordered() || !j.wanted(int(*rollout.Unblocking)) {
		return -1
	}
	return int(*rollout.Unblocking)
}

// mayUnblock reports whether a pod may be removed out of turn: the set asks for it, the pod
// has been stranded for so long, and in an ordered set the status has named it before.
func (j *judged) mayUnblock(pod *corev1.Pod, ordinal int) bool {
	patience, asked := j.patience()
	since, stranded := j.strandedSince(pod, ordinal)
	if !asked || !stranded || !j.wanted(ordinal) || j.Now.Sub(since) < patience {
		return false
	}
	if j.ordered() {
		return j.named() == ordinal
	}
	return !j.isAbovePartition(ordinal)
}

// strandedSince is since when a member has not been ready at a revision that it is not to
// have, and false if that is not so, or if it is at the current revision and another is not
// ready at the one that it is to have.
func (j *judged) strandedSince(pod *corev1.Pod, ordinal int) (time.Time, bool) {
	const revision = "controller-revision-hash"
	updated := j.plan.Status.UpdateRevision
	since, unready := unreadySince(pod)
	if _, restarts := noted(pod); restarts && (!j.hangs(pod) || j.mayTake(pod, ordinal)) || !unready || j.rests() ||
		pod.Labels[revision] == j.goal(ordinal) && !j.isMisshapen(ordinal) {
		return time.Time{}, false
	}
	for _, other := range j.ordinals {
		peer := j.member(other)
		if peer == nil || peer.Labels[revision] != updated || pod.Labels[revision] != j.currentRevision(updated) {
			continue
		}
		if _, ails := unreadySince(peer); ails && (!j.followsTemplates() || !j.mountsOtherwise(peer, other)) && !j.isOtherwise(peer, other) &&
			!j.awaitsClaim(peer, other) {
			return time.Time{}, false
		}
	}
	return since, true
}

// awaitsClaim reports whether a pod has yet to start and has a claim that is not there, or goes.
func (f evidence) awaitsClaim(pod *corev1.Pod, ordinal int) bool {
	for _, template := range f.Set.Spec.VolumeClaimTemplates {
		claim := f.claims[f.claimName(template.Name, ordinal)]
		if pod.Status.Phase == corev1.PodPending && (claim == nil || claim.DeletionTimestamp != nil) {
			return true
		}
	}
	return false
}
