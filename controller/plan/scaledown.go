// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"

	v1 "statefulset.dev/api/apps/v1"
	"statefulset.dev/controller/plan/action"
	"statefulset.dev/controller/plan/words"
)

// scaleDown removes the surplus pods, the highest ordinal first. Claims that are deleted with their
// member must record that before its pod is removed. An ordered set removes one pod at a time. It
// does not remove an unavailable pod while a lower one is unavailable too and may recover: both may
// be starting, and the lower one is more important.
func scaleDown(f *facts, d *draft) verdict {
	if !f.ordered {
		removeInTurn(f, d)
		return proceed
	}
	if len(f.condemned) == 0 {
		return proceed
	}
	highest := f.condemned[0]
	switch lower := f.lowestUnavailable(); {
	case isTerminating(highest.pod):
		waitForEnd(f, d, highest.pod, "")
	case d.waitForOwners(f, highest):
	case f.isUnavailable(highest) && !f.isLeavingUnbroken(highest) && !f.isHopeless(highest) && lower.ordinal != highest.ordinal:
		d.wait("%s", f.lowerText(highest, lower))
	default:
		condemn(f, d, highest)
		d.wait("pod %s is being removed%s", highest.pod.Name, f.whyCondemned(highest))
	}
	return pause
}

func condemn(f *facts, d *draft, m member) {
	if !isTerminating(m.pod) && !d.changesPod(m) {
		d.add(remove(f, d, m, action.DeletePod{Reason: action.DeleteForScaleDown})...)
	}
}

// whyCondemned says why a member is surplus if that is not only because of the number of replicas.
func (f *facts) whyCondemned(m member) string {
	ordinals := f.world.Set.Spec.Ordinals
	if ordinals == nil || !slices.ContainsFunc(ordinals.Reserved, func(r v1.OrdinalRange) bool { return r.Contains(m.ordinal) }) {
		return ""
	}
	return fmt.Sprintf(", because ordinal %d is reserved", m.ordinal)
}

// lowestUnavailable is the surplus member with the lowest ordinal that is not available and may
// still become available.
func (f *facts) lowestUnavailable() member {
	for _, m := range slices.Backward(f.condemned) {
		if f.isUnavailable(m) && !f.isLeavingUnbroken(m) && !f.isHopeless(m) {
			return m
		}
	}
	return f.condemned[0]
}

// lowerText says for which surplus pod, and until when at most, the removal of a higher one waits.
func (f *facts) lowerText(highest, lower member) string {
	end := ""
	if at, broken := f.hopelessAt(highest); broken {
		end = ", or at " + words.Timestamp(at)
	}
	return fmt.Sprintf("pod %s is removed when pod %s is available%s", highest.pod.Name, lower.pod.Name, end)
}

// hopelessAt is the time from which a surplus pod that is not ready is not expected to recover. It
// is false if the pod is ready. The pod has until the progress deadline of the set. Only the order
// of removals depends on that: the pod is removed in any case, and all desired members are
// available.
func (f *facts) hopelessAt(m member) (at time.Time, broken bool) {
	return brokenSince(m.pod).Add(f.progressDeadline()), !isReady(m.pod)
}

// isHopeless reports whether a surplus pod will not become available: it has ended, it has not been
// ready for too long, it waits for a claim or a resize, which surplus members no longer get, or it
// waits for a restart that does not happen.
func (f *facts) isHopeless(m member) bool {
	if at, broken := f.hopelessAt(m); broken && !f.world.Now.Before(at) {
		return true
	}
	if overdue, _ := f.isOverdue(m.pod); overdue || isRestarting(m.pod) && noteOf(m.pod).awaitsHost(m.pod) {
		return true
	}
	if m.pod.Status.Phase != corev1.PodPending {
		return isFinished(m.pod)
	}
	for i := range f.world.Set.Spec.VolumeClaimTemplates {
		if f.claimOf(m, i) == nil {
			return true
		}
	}
	return false
}
