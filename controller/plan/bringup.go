// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"

	"statefulset.dev/controller/plan/action"
	"statefulset.dev/controller/plan/words"
	"statefulset.dev/identity"
)

// bringUp makes every desired ordinal a healthy member, the lowest first. An ordered set continues
// with the next ordinal only when this member is available, or when it serves but waits for a
// restart or resize that does not happen: such a member is recreated when all others serve.
func bringUp(f *facts, d *draft) verdict {
	next := proceed
	for _, m := range f.members {
		// Another rule has handled the member that unblocks the set, and that member is not
		// available. The same is true for a member whose pod is about to be removed.
		seenTo := f.unblocks(m) || f.isReplacementRequested(m) && d.changesPod(m)
		if (seenTo || !bringUpMember(f, d, m)) && f.ordered {
			if !f.servesWhileWaiting(m) || d.changesPod(m) {
				return pause
			}
			next = pause
		}
	}
	return next
}

// bringUpMember plans what one member needs, and reports whether it is available.
func bringUpMember(f *facts, d *draft, m member) bool {
	switch {
	case m.pod == nil:
		createInTurn(f, d, m)
		return false
	case isFinished(m.pod):
		if until, pauses := f.pauses(m); pauses {
			d.wait("pod %s has ended (%s) %d times in a row, soon after its creation; it is recreated at %s", m.pod.Name, m.pod.Status.Phase,
				f.endings[m.ordinal].inARow, words.Timestamp(until))
			d.requeueAfter(until.Sub(f.world.Now))
			return false
		}
		if !isTerminating(m.pod) && !d.waitForOwners(f, m) {
			d.add(action.DeletePod{Ordinal: m.ordinal, Pod: action.Exact(m.pod), Reason: action.DeleteFinished})
		}
		d.wait("pod %s has ended (%s); it is recreated after its deletion", m.pod.Name, m.pod.Status.Phase)
		return false
	default:
		complete(f, d, m)
		return f.isLeavingUnbroken(m) && f.desiredRequest(m).Operation != "" || waitFor(f, d, m)
	}
}

// complete plans what an existing pod may lack: claims without which it cannot start, and the
// labels of its identity. The claims that a pod mounts cannot be changed, so a pod that mounts
// other claims is only reported.
func complete(f *facts, d *draft, m member) {
	if m.pod.Status.Phase == corev1.PodPending && !isTerminating(m.pod) {
		if claims, usable := lackingClaims(f, d, m); usable && len(claims) > 0 {
			d.add(action.CreateClaims{Ordinal: m.ordinal, Claims: withSecretsRecorded(claims, f.supporting.secretsOf(m, false))})
		}
	}
	if isTerminating(m.pod) {
		return
	}
	if m.pod.Labels[appsv1.StatefulSetPodNameLabel] != m.pod.Name {
		d.add(action.RepairPod{Ordinal: m.ordinal, Pod: action.Exact(m.pod), Labels: identity.Labels(f.world.Set.Name, m.ordinal)})
		d.repairing = true
	}
	if !identity.MountsClaims(f.world.Set, m.ordinal, m.pod) && !f.hasOtherClaims(m) {
		reportUnmounted(f, d, m)
	}
}

// waitFor reports whether a member is available, and records what is missing if it is not.
func waitFor(f *facts, d *draft, m member) bool {
	switch {
	case isTerminating(m.pod):
		waitForEnd(f, d, m.pod, "; it is recreated after termination")
	case isRestarting(m.pod):
		d.wait("%s: %s", m.pod.Name, noteOf(m.pod).progressText(m.pod))
	case !isReady(m.pod):
		if d.waiting == "" { // finding the cause is slow, and only the first message counts
			d.wait("%s: %s", m.pod.Name, f.diagnose(m))
		}
	case !f.isAvailable(m.pod):
		at, _ := f.availableAt(m.pod)
		d.wait("waiting for %s to be available at %s (minReadySeconds is %d)", m.pod.Name, words.Timestamp(at), f.world.Set.Spec.MinReadySeconds)
	default:
		return true
	}
	return false
}
