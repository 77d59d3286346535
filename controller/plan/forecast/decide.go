// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package forecast

import (
	"fmt"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"

	v1 "statefulset.dev/api/apps/v1"
	"statefulset.dev/controller/plan"
	"statefulset.dev/identity"
)

// decide does what an update by steps waits for: conditions that other programs set become True,
// and a user promotes the step.
func (h *host) decide(p plan.Plan) []string {
	switch waits := p.Status.Condition(v1.StatefulSetReady).Reason; {
	case p.Status.Rollout == nil:
		return nil
	case waits == v1.ReasonWaitingForConditions:
		return h.check(p.Status.UpdateRevision, h.Set.Spec.UpdateStrategy.RollingUpdate.Steps[p.Status.Rollout.Step-1].PodConditions)
	case waits == v1.ReasonWaitingForPromotion:
		h.Set.Status.Rollout = p.Status.Rollout.DeepCopy()
		h.Set.Status.Rollout.PromotedStep = p.Status.Rollout.Step
		return []string{fmt.Sprintf("step %d is promoted", p.Status.Rollout.Step)}
	default:
		return nil
	}
}

// check sets conditions to True on the pods at a revision.
func (h *host) check(revision string, conditions []string) (happened []string) {
	for _, name := range slices.Sorted(maps.Keys(h.Pods)) {
		if h.Pods[name].Labels[identity.RevisionLabel] != revision {
			continue
		}
		for _, condition := range conditions {
			isIt := func(c corev1.PodCondition) bool { return string(c.Type) == condition }
			if slices.ContainsFunc(h.Pods[name].Status.Conditions,
				func(c corev1.PodCondition) bool { return isIt(c) && c.Status == corev1.ConditionTrue }) {
				continue
			}
			change(h.Pods, name, func(pod *corev1.Pod) {
				pod.Status.Conditions = slices.DeleteFunc(slices.Clone(pod.Status.Conditions), isIt)
				pod.Status.Conditions = append(pod.Status.Conditions,
					corev1.PodCondition{Type: corev1.PodConditionType(condition), Status: corev1.ConditionTrue})
			})
			happened = append(happened, fmt.Sprintf("condition %s of pod %s is True", condition, name))
		}
	}
	return happened
}
