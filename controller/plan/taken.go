// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"slices"

	corev1 "k8s.io/api/core/v1"

	v1 "statefulset.dev/api/apps/v1"
)

// taken reports whether a member is on its way out of service by our hand, although it may
// still serve: its gates are asked, or it is drained. It counts as unavailable where somebody else
// is to be taken from service.
func (f *facts) taken(m member) bool {
	return m.pod != nil && !isTerminating(m.pod) && !isFinished(m.pod) && (isRequested(m.pod) || isDraining(m.pod))
}

// notReadyByUs reports whether a pod that runs and is not ready is not broken: it is on its way out
// of service by our hand, or it is not ready only because a condition that we set was False until
// just now.
func notReadyByUs(pod *corev1.Pod) bool {
	if pod.Status.Phase != corev1.PodRunning || !isOursToTake(pod) {
		return false
	}
	if isLeaving(pod) {
		return true
	}
	if c := conditionOf(pod, corev1.ContainersReady); c != nil && c.Status == corev1.ConditionFalse {
		return false
	}
	return isOutOfService(pod) || isClosed(pod)
}

// isClosed reports whether only a gate that was asked keeps a pod from being ready, or did so until just
// now, and the kubelet has yet to see the difference.
func isClosed(pod *corev1.Pod) bool {
	since, others, just := notReadySince(pod), false, false
	for _, gate := range pod.Spec.ReadinessGates {
		c := conditionOf(pod, gate.ConditionType)
		switch {
		case c == nil && isRequested(pod):
			// It was asked about before it was given the condition, and cannot be ready without.
			return true
		case c == nil:
			others = true
		case c.Status == corev1.ConditionTrue:
			// The kubelet has yet to see it.
			just = just || !c.LastTransitionTime.Before(&since)
		case isRequested(pod) || c.Reason == v1.ReasonGateRequested:
			return true
		default:
			others = true
		}
	}
	return just && !others
}

// isLeaving reports whether a pod is on its way out of service by our hand, and was not broken when
// that began. What its containers report does not matter any more: to hand over is often what stops
// them from being ready. A drain ends after its time, and a question after the timeout of its gate;
// without one the pod waits for the answer. A pod whose phase is not Running does not get here.
func isLeaving(pod *corev1.Pod) bool {
	asked, open := requestOf(pod)
	if isRestarting(pod) && len(noteOf(pod).Containers) > 0 && (!open || asked.led(pod)) {
		return false // its containers are judged by what they are to run
	}
	return open && asked.Operation != "" && !asked.Broken || isDraining(pod)
}

// led reports whether it is the request that led to the revision that a pod has. Any other is about
// what comes after that.
func (r request) led(pod *corev1.Pod) bool {
	return r.Operation == v1.UpdateDisruptionOperationType && r.Revision == revisionOf(pod)
}

// isOursToTake reports whether we set conditions of a pod on which its readiness depends, or have.
func isOursToTake(pod *corev1.Pod) bool {
	return isRequested(pod) || pod.Annotations[v1.DisruptionCountAnnotation] != "" || isDrainable(pod)
}

// drained reports whether a member is on its way out of service, and not broken.
func (f *facts) drained(m member) bool { return f.taken(m) && !isBroken(m.pod) }

// conditionOf is a condition of a pod, nil if it has none of the type.
func conditionOf(pod *corev1.Pod, kind corev1.PodConditionType) *corev1.PodCondition {
	at := slices.IndexFunc(pod.Status.Conditions, func(c corev1.PodCondition) bool { return c.Type == kind })
	if at < 0 {
		return nil
	}
	return &pod.Status.Conditions[at]
}

// purse is what a look has left of the members that may be unavailable.
type purse struct {
	// open is how many more may be taken anew, room how many that serve may be removed.
	open, room int
}

func (f *facts) purse() purse {
	p := purse{room: f.maxUnavailable() - (f.roster.Len() - f.available)}
	p.open = p.room
	for _, m := range f.members {
		if f.taken(m) && !f.unavailable(m) {
			p.open--
		}
	}
	return p
}

// affords reports whether a wanted member that is not broken may be taken from service, or, if
// it is on its way, removed.
func (p *purse) affords(f *facts, m member) bool {
	if f.taken(m) {
		return p.room > 0 || f.unavailable(m)
	}
	return p.open > 0
}

// pay counts a member that is taken from service, or, if it is on its way, removed.
func (p *purse) pay(f *facts, m member) {
	switch {
	case !f.taken(m):
		p.open--
		p.room--
	case !f.unavailable(m) && f.agreed(m):
		p.room--
	}
}
