// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	corev1 "k8s.io/api/core/v1"

	v1 "statefulset.dev/api/apps/v1"
)

// status is what the world looks like before anything of the plan is done, but for
// one number: as in apps/v1, pods that the plan removes for an update no longer count
// as current.
func (p *planner) status() v1.StatefulSetStatus {
	status := v1.StatefulSetStatus{
		ObservedGeneration: p.Set.Generation,
		CollisionCount:     new(p.collisions),
		CurrentRevision:    p.current.name,
		UpdateRevision:     p.update.name,
		Conditions:         append([]v1.StatefulSetCondition(nil), p.Set.Status.Conditions...),
	}
	if p.frozen {
		status.CollisionCount = p.Set.Status.CollisionCount
	}
	for m := range p.all() {
		if m.pod != nil {
			p.count(&status, m.pod)
		}
	}
	status.CurrentReplicas -= p.replaced
	p.completeUpdate(&status)
	p.setConditions(&status)
	return status
}

func (p *planner) count(status *v1.StatefulSetStatus, pod *corev1.Pod) {
	status.Replicas++
	if isReady(pod) {
		status.ReadyReplicas++
		if p.isAvailable(pod) {
			status.AvailableReplicas++
		}
	}
	if isTerminating(pod) {
		return
	}
	revision := revisionOf(pod)
	if revision == p.current.name {
		status.CurrentReplicas++
	}
	if revision == p.update.name {
		status.UpdatedReplicas++
	}
}

// completeUpdate makes the update's revision the current one when every wanted
// member, and no other, is there, ready and updated.
func (p *planner) completeUpdate(status *v1.StatefulSetStatus) {
	wanted := int32(p.wanted)
	if p.frozen || status.UpdatedReplicas != wanted || status.ReadyReplicas != wanted || status.Replicas != wanted {
		return
	}
	status.CurrentReplicas = status.UpdatedReplicas
	status.CurrentRevision = status.UpdateRevision
	if _, recreated := p.recreating(); recreated {
		p.progress(corev1.ConditionFalse, v1.ReasonRecreateCompleted, "all pods run the present revision")
	}
}
