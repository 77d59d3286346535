// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"slices"

	corev1 "k8s.io/api/core/v1"

	v1 "statefulset.dev/api/apps/v1"
)

// isLeavingService reports whether the controller is taking a member out of service, although it
// may still be available: its gates were asked, or it is being drained. It counts as unavailable
// when another member is to be taken out of service.
func (f *facts) isLeavingService(m member) bool {
	return m.pod != nil && !isTerminating(m.pod) && !isFinished(m.pod) && (isRequested(m.pod) || isDraining(m.pod))
}

// isUnreadyByController reports whether a running pod that is not ready is not broken: the
// controller is taking it out of service, or it is not ready only because of a condition that the
// controller had set to False until just now.
func isUnreadyByController(pod *corev1.Pod) bool {
	if pod.Status.Phase != corev1.PodRunning || !hasControllerConditions(pod) {
		return false
	}
	if isTakenOutWhileHealthy(pod) {
		return true
	}
	if c := conditionOf(pod, corev1.ContainersReady); c != nil && c.Status == corev1.ConditionFalse {
		return false
	}
	return isOutOfService(pod) || isUnreadyByGate(pod)
}

// isUnreadyByGate reports whether only a requested gate keeps a pod from being ready, or did so
// until just now and the kubelet has yet to see the change.
func isUnreadyByGate(pod *corev1.Pod) bool {
	since, others, just := notReadySince(pod), false, false
	for _, gate := range pod.Spec.ReadinessGates {
		c := conditionOf(pod, gate.ConditionType)
		switch {
		case c == nil && isRequested(pod):
			// The request came before the condition, without which the pod cannot be ready.
			return true
		case c == nil:
			others = true
		case c.Status == corev1.ConditionTrue:
			// The kubelet may have yet to see it.
			just = just || !c.LastTransitionTime.Before(&since)
		case isRequested(pod) || c.Reason == v1.ReasonGateRequested:
			return true
		default:
			others = true
		}
	}
	return just && !others
}

// isTakenOutWhileHealthy reports whether the controller is taking a pod out of service that was not
// broken when that began. The state of its containers no longer matters: handing over often makes
// them unready. A drain ends after its time, and a request to a gate after the gate's timeout; a
// gate without a timeout is waited for. A pod whose phase is not Running does not get here.
func isTakenOutWhileHealthy(pod *corev1.Pod) bool {
	asked, open := requestOf(pod)
	if isRestarting(pod) && len(noteOf(pod).Containers) > 0 && (!open || asked.led(pod)) {
		return false // its containers are judged by their new images and resources
	}
	return open && asked.Operation != "" && !asked.Broken || isDraining(pod)
}

// led reports whether the request is for the update to the current revision of the pod. Any other
// request is for a later change.
func (r request) led(pod *corev1.Pod) bool {
	return r.Operation == v1.UpdateDisruptionOperationType && r.Revision == revisionOf(pod)
}

// hasControllerConditions reports whether the controller sets, or has set, conditions on which the
// readiness of a pod depends.
func hasControllerConditions(pod *corev1.Pod) bool {
	return isRequested(pod) || pod.Annotations[v1.DisruptionCountAnnotation] != "" || isDrainable(pod)
}

// isLeavingUnbroken reports whether the controller is taking a member out of service that is not
// broken.
func (f *facts) isLeavingUnbroken(m member) bool { return f.isLeavingService(m) && !isBroken(m.pod) }

// conditionOf is a condition of a pod, nil if the pod does not have it.
func conditionOf(pod *corev1.Pod, kind corev1.PodConditionType) *corev1.PodCondition {
	at := slices.IndexFunc(pod.Status.Conditions, func(c corev1.PodCondition) bool { return c.Type == kind })
	if at < 0 {
		return nil
	}
	return &pod.Status.Conditions[at]
}

// disruptionBudget is what is left of the disruption budget in a sync: how many more members may
// become unavailable.
type disruptionBudget struct {
	// remaining is how many more members may be taken out of service, and removals how many
	// available members may be removed.
	remaining, removals int
}

func (f *facts) disruptionBudget() disruptionBudget {
	p := disruptionBudget{removals: f.maxUnavailable() - (f.roster.Len() - f.available)}
	p.remaining = p.removals
	for _, m := range f.members {
		if f.isLeavingService(m) && !f.isUnavailable(m) {
			p.remaining--
		}
	}
	return p
}

// allows reports whether a desired member that is not broken may be taken out of service or, if
// that has begun, removed.
func (p *disruptionBudget) allows(f *facts, m member) bool {
	if f.isLeavingService(m) {
		return p.removals > 0 || f.isUnavailable(m)
	}
	return p.remaining > 0
}

// spend counts a member that is taken out of service or, if that had begun, removed.
func (p *disruptionBudget) spend(f *facts, m member) {
	switch {
	case !f.isLeavingService(m):
		p.remaining--
		p.removals--
	case !f.isUnavailable(m) && f.agreed(m):
		p.removals--
	}
}
