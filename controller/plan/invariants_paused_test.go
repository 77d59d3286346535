// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	v1 "statefulset.dev/api/apps/v1"
	"statefulset.dev/controller/plan/action"
)

// isPaused reports whether the set's updates are paused.
func (f evidence) isPaused() bool {
	rolling := f.Set.Spec.UpdateStrategy.RollingUpdate
	return f.strategy() == v1.RollingUpdateStatefulSetStrategyType && rolling != nil && rolling.Paused != nil && *rolling.Paused
}

// names reports whether ranges contain an ordinal.
func names(ranges []v1.OrdinalRange, ordinal int) bool { return isReserved(ranges, ordinal) }

// tracking: a paused update recreates nobody. The status of one that is tracked says whom it
// has reached before anything rests on it, and forgets nobody; members come back at its
// revision if it has reached them.
func (j *judged) tracking() {
	if j.undecided() || j.Set.DeletionTimestamp != nil {
		return
	}
	for _, act := range planned[action.DeletePod](j) {
		if j.rests() && (forUpdate(act) || act.Reason == action.DeleteUnready) {
			j.broke("paused", "%s", act)
		}
	}
	for _, act := range planned[action.PatchPod](j) {
		if text := act.Annotations["apps.statefulset.dev/disruption"]; j.rests() && text != nil && strings.Contains(*text, `"Update"`) {
			j.broke("paused", "%s", act)
		}
	}
	before, now, updated := j.Set.Status.Rollout, j.plan.Status.Rollout, j.plan.Status.UpdateRevision
	if !j.isTracked() {
		if now != nil && (j.isPaused() || now.Step != 0) {
			j.broke("tracking", "the status says %+v of a set without an update", now)
		}
		return
	}
	if now == nil || now.Step < 1 || len(j.steps()) == 0 && now.Step != 1 || now.Revision != updated || j.isPaused() && now.Unblocking != nil {
		j.broke("tracking", "the status says %+v of an update to %s", now, updated)
		return
	}
	known := before != nil && before.Step > 0 && before.Revision == updated
	for _, ordinal := range j.ordinals {
		pod, above := j.member(ordinal), j.isAbovePartition(ordinal)
		reached := pod != nil && pod.Labels["controller-revision-hash"] == updated ||
			known && names(before.Released, ordinal) && (pod == nil || pod.DeletionTimestamp != nil)
		_, gives := j.step() // to others what it asks for: of whom has no pod yet it may think again
		if above && reached && !names(now.Released, ordinal) && (pod != nil || !gives || j.isPaused()) || !above && names(now.Released, ordinal) {
			j.broke("released", "member %d is at %v, and the status named %+v and names %+v", ordinal, revisionAt(pod), before, now)
		}
		if known && names(before.Superseded, ordinal) != names(now.Superseded, ordinal) {
			j.broke("superseded", "the status named %+v and names %+v", before.Superseded, now.Superseded)
		}
		if at := revisionAt(pod); !known && pod != nil && names(now.Superseded, ordinal) != (at != updated && at != j.currentRevision(updated)) {
			j.broke("superseded", "member %d is at %s, and the status names %+v", ordinal, at, now.Superseded)
		}
	}
	for _, act := range planned[action.CreateMember](j) {
		want := j.currentRevision(updated)
		if j.byRecord() && !j.goesBack() && j.isAbovePartition(act.Ordinal) && j.isReached(act.Ordinal) {
			want = updated
		}
		if got := act.Pod.Labels["controller-revision-hash"]; got != want && (j.byRecord() || j.goesBack()) {
			j.broke("tracked creation", "pod %s is created at %s, want %s", act.Pod.Name, got, want)
		}
	}
	for _, r := range slices.Concat(now.Released, now.Superseded) {
		if !j.wanted(int(r.First)) || !j.wanted(int(r.End())) {
			j.broke("released", "the status names %+v, which are not wanted", r)
		}
	}
}

func revisionAt(pod *corev1.Pod) string {
	if pod == nil {
		return "no revision"
	}
	return pod.Labels["controller-revision-hash"]
}
