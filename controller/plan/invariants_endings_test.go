// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"math"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"statefulset.dev/controller/plan/action"
)

// ended is the last pod of a member that has, as the invariants remember it.
type ended struct {
	pod    types.UID
	at     time.Time
	inARow int
}

// pause is for how long the pod stays before it is replaced: not at all if it is the first
// that ended soon, 10 seconds if it is the second, then 20, and so on up to five minutes.
func (e ended) pause() time.Duration {
	if e.inARow < 2 {
		return 0
	}
	return min(10*time.Second*time.Duration(math.Pow(2, float64(min(e.inARow, 20)-2))), 5*time.Minute)
}

// endings are the pods of members that have ended, of one set after the other.
type endings struct {
	set     types.UID
	members map[int]ended
}

// see remembers what a world shows.
func (e *endings) see(j *judged) {
	if e.set != j.Set.UID {
		e.set, e.members = j.Set.UID, map[int]ended{}
	}
	members := e.members
	for ordinal := range members {
		if !j.wanted(ordinal) {
			delete(members, ordinal)
		}
	}
	for name, pod := range j.pods {
		ordinal := j.ordinalOf(name)
		if !j.wanted(ordinal) || !j.mine(pod) {
			continue
		}
		old := j.Now.Sub(pod.CreationTimestamp.Time) >= 10*time.Minute
		hasEnded := pod.DeletionTimestamp == nil && (pod.Status.Phase == corev1.PodFailed || pod.Status.Phase == corev1.PodSucceeded)
		before := members[ordinal]
		switch {
		case !hasEnded && old:
			delete(members, ordinal)
		case hasEnded && before.pod != pod.UID && old:
			members[ordinal] = ended{pod.UID, j.Now, 1}
		case hasEnded && before.pod != pod.UID:
			members[ordinal] = ended{pod.UID, j.Now, before.inARow + 1}
		}
	}
}

// backOff: a pod that has ended as others of its member did before is replaced only after
// its pause, unless an update replaces it.
func (j *judged) backOff() {
	for _, act := range planned[action.DeletePod](j) {
		last := j.ended[act.Ordinal]
		if act.Reason != action.DeleteFinished || last.pod != act.Pod.UID || j.outdated(j.pods[act.Pod.Name]) || j.isMisshapen(act.Ordinal) {
			continue
		}
		if since, pause := j.Now.Sub(last.at), last.pause(); since >= 0 && since < pause {
			j.broke("back-off", "pod %s, which has ended as %d in a row did, is replaced %s after that, want %s at least", act.Pod.Name, last.inARow,
				since, pause)
		}
	}
}

// outdated reports whether a pod could be one that an update replaces, be it one that goes back.
func (j *judged) outdated(pod *corev1.Pod) bool {
	return j.goesBack() || pod.Labels["controller-revision-hash"] != j.plan.Status.UpdateRevision
}
