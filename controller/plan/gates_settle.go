// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"time"

	corev1 "k8s.io/api/core/v1"

	v1 "statefulset.dev/api/apps/v1"
	"statefulset.dev/controller/plan/action"
)

// settleGates withdraws requests for what is no longer going to happen, and sets the conditions of
// new pods whose readiness depends on a gate that is not asked. It does not wait for healthy
// members: others may wait for a pod that was asked about.
func settleGates(f *facts, d *draft) verdict {
	for m := range f.all() {
		if m.pod == nil || isTerminating(m.pod) || isFinished(m.pod) || d.changesPod(m) {
			continue
		}
		switch {
		case !isRequested(m.pod):
			if types := f.untold(m.pod); len(types) > 0 {
				d.each(f.setGates(m, types, corev1.ConditionTrue, v1.ReasonGateNotRequested))
			}
		case len(f.gatesFor(f.wants(m).Operation)) == 0 || d.given[m.pod.UID] || f.isMootFor(m):
			d.each(f.withdraw(m))
		}
	}
	return proceed
}

// isMootFor reports whether the request about a pod is for something other than what is going to
// happen to it.
func (f *facts) isMootFor(m member) bool {
	asked, _ := requestOf(m.pod)
	return !asked.isFor(f.wants(m))
}

// withdraw is the next action of the withdrawal of a request. The conditions come first, so that
// the annotation shows until the end that there is something to withdraw.
func (f *facts) withdraw(m member) action.Action {
	var closed []string
	for _, c := range m.pod.Status.Conditions {
		if c.Status == corev1.ConditionFalse && (c.Reason == v1.ReasonGateRequested || f.isGate(c.Type)) {
			closed = append(closed, string(c.Type))
		}
	}
	if len(closed) > 0 {
		return f.setGates(m, closed, corev1.ConditionTrue, v1.ReasonGateNotRequested)
	}
	return action.PatchPod{
		Ordinal: m.ordinal, Pod: action.Exact(m.pod), What: "withdraw the request", Annotations: map[string]*string{v1.DisruptionAnnotation: nil}}
}

// untold are the gates on which the readiness of a pod depends and for which it has no condition.
func (f *facts) untold(pod *corev1.Pod) (types []string) {
	for _, gate := range pod.Spec.ReadinessGates {
		if f.isGate(gate.ConditionType) && conditionOf(pod, gate.ConditionType) == nil {
			types = append(types, string(gate.ConditionType))
		}
	}
	return types
}

func (f *facts) isGate(kind corev1.PodConditionType) bool {
	if f.world.Set.Spec.Disruption == nil {
		return false
	}
	for i := range f.world.Set.Spec.Disruption.Gates {
		if f.world.Set.Spec.Disruption.Gates[i].ConditionType == string(kind) {
			return true
		}
	}
	return false
}

// nextGate is the time until the first awaited gate times out; zero if none is awaited, or none
// times out.
func (f *facts) nextGate() (next time.Duration) {
	if f.frozen() || f.world.Set.DeletionTimestamp != nil {
		return 0
	}
	for m := range f.all() {
		if !f.taken(m) {
			continue
		}
		asked, _ := requestOf(m.pod)
		wanted, gates := f.gated(m)
		if s := f.standoffOf(m.pod, gates, asked); asked.isFor(wanted) && !s.until.IsZero() {
			next = soonest(next, s.until.Sub(f.world.Now))
		}
	}
	return next
}
