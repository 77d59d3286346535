// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"encoding/json"
	"time"

	corev1 "k8s.io/api/core/v1"

	v1 "statefulset.dev/api/apps/v1"
	"statefulset.dev/controller/plan/action"
)

// isGivenUp reports whether a pod is removed because its node does not restart or resize it.
func isGivenUp(a action.DeletePod) bool {
	return a.Reason == action.DeleteUnrestarted || a.Reason == action.DeleteUnresized
}

// vainFor is how long a pod waits for a restart or a resize that its node need not be about to
// make, and false if it waits for none, or its node has yet to see the change, or has ended the
// containers.
func (f evidence) vainFor(pod *corev1.Pod) (time.Duration, bool) {
	before, restarts := noted(pod)
	var note struct {
		Since time.Time `json:"since"`
	}
	resizes, cannot := f.waitsForResize(pod)
	if !restarts || pod.DeletionTimestamp != nil || pod.Status.Phase != corev1.PodRunning || f.hasActed(pod, before) && !resizes ||
		json.Unmarshal([]byte(pod.Annotations[v1.InPlaceAnnotation]), &note) != nil ||
		pod.Status.ObservedGeneration != 0 && pod.Status.ObservedGeneration < pod.Generation {
		return 0, false
	}
	if cannot {
		return f.vainPatience(pod), true
	}
	for _, c := range pod.Status.Conditions {
		if (c.Type == "PodResizePending" || c.Type == "PodResizeInProgress") && c.LastTransitionTime.After(note.Since) {
			note.Since = c.LastTransitionTime.Time
		}
	}
	return f.Now.Sub(note.Since), true
}

// vainPatience is for how long a restart is waited for: all that the containers may take to
// end, and all that the set may take.
func (f evidence) vainPatience(pod *corev1.Pod) time.Duration {
	grace, deadline := int64(30), int32(600)
	if own := pod.Spec.TerminationGracePeriodSeconds; own != nil {
		const century = 100 * 365 * 24 * 60 * 60
		grace = min(max(*own, 0), century)
	}
	if own := f.Set.Spec.ProgressDeadlineSeconds; own != nil {
		deadline = *own
	}
	return time.Duration(grace+int64(deadline)) * time.Second
}

// isVain reports whether a pod may be recreated because it waits in vain for a restart.
func (j *judged) isVain(pod *corev1.Pod, ordinal int) bool {
	waited, waits := j.vainFor(pod)
	return waits && waited >= j.vainPatience(pod) && j.wanted(ordinal) && !j.rests() && j.strategy() != v1.OnDeleteStatefulSetStrategyType
}

// stays reports whether the member of an ordinal serves, and is not about to be restarted.
func (j *judged) stays(ordinal int) bool {
	pod := j.member(ordinal)
	if pod == nil || pod.DeletionTimestamp != nil {
		return false
	}
	since, ok := ready(pod)
	if waited, waits := j.vainFor(pod); waits && waited >= j.vainPatience(pod) || j.awaitsResize(pod) {
		least := time.Duration(j.Set.Spec.MinReadySeconds) * time.Second
		return ok && (least == 0 || j.Now.Sub(since) >= least)
	}
	return j.serves(ordinal)
}

// vainBudget: of the members that wait in vain for a restart, and serve, no more are recreated
// than may be unavailable with all others that do not serve; in an ordered set one, and only
// if all others serve.
func (j *judged) vainBudget() {
	goes, serving := map[int]bool{}, 0
	for _, act := range planned[action.DeletePod](j) {
		if pod := j.pods[act.Pod.Name]; pod != nil && isGivenUp(act) {
			goes[act.Ordinal] = true
			if _, broken := unreadySince(pod); !broken {
				serving++
			}
		}
	}
	for _, act := range planned[action.ResizePod](j) {
		if pod := j.pods[act.Pod.Name]; pod != nil && act.Otherwise != nil {
			goes[act.Ordinal] = true
			if _, broken := unreadySince(pod); !broken {
				serving++
			}
		}
	}
	if serving == 0 {
		return
	}
	for _, act := range j.updatesBegun() {
		goes[act.Ordinal] = true
	}
	gone := 0
	for _, ordinal := range j.ordinals {
		if goes[ordinal] || !j.stays(ordinal) {
			gone++
		}
	}
	most := j.maxUnavailable()
	if j.ordered() {
		most = 1
	}
	if gone > most {
		j.broke("vain restarts", "%d members that serve are recreated, and %d are then unavailable, of which %d may be", serving, gone, most)
	}
}
