// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	corev1 "k8s.io/api/core/v1"

	v1 "statefulset.dev/api/apps/v1"
)

// recreate removes every pod of an old revision at the same time, in an ordered set
// too, and lets nothing be created until the last one is gone.
func (p *planner) recreate() bool {
	if p.Set.Spec.UpdateStrategy.Type != v1.RecreateStatefulSetStrategyType {
		return true
	}
	old := 0
	var removals []Action
	for m := range p.all() {
		if !p.outdated(m) {
			continue
		}
		old++
		if !isTerminating(m.pod) {
			removals = append(removals, DeletePod{Ordinal: m.ordinal, Pod: exact(m.pod), Reason: DeleteForUpdate})
		}
	}
	p.together(removals)
	if old > 0 {
		p.wait("MemberOutdated", "waiting for %d pods of earlier revisions to be gone", old)
		p.progress(corev1.ConditionTrue, v1.ReasonRecreateInProgress, "pods of earlier revisions are being removed")
		return false
	}
	if p.current.name != p.update.name {
		p.progress(corev1.ConditionTrue, v1.ReasonRecreateInProgress, "pods of the present revision are being created")
	}
	return true
}

// progress notes what the condition Progressing says, as apps/v1 has it for this
// strategy.
func (p *planner) progress(status corev1.ConditionStatus, word, message string) {
	p.progressing = &v1.StatefulSetCondition{Type: v1.StatefulSetProgressing, Status: status, Reason: word, Message: message}
}
