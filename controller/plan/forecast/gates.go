// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package forecast

import (
	"fmt"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "statefulset.dev/api/apps/v1"
	"statefulset.dev/controller/plan"
)

// answer lets all requested gates agree.
func (h *host) answer() []string {
	var happened []string
	for _, name := range slices.Sorted(maps.Keys(h.Pods)) {
		pod := h.Pods[name]
		reason, asked := plan.GateAnswer(pod)
		if !asked || pod.DeletionTimestamp != nil {
			continue
		}
		for i, condition := range pod.Status.Conditions {
			if condition.Status != corev1.ConditionFalse || !h.isGate(condition.Type) {
				continue
			}
			happened = append(happened, fmt.Sprintf("%s is True on %s", condition.Type, name))
			change(h.Pods, name, func(pod *corev1.Pod) {
				pod.Status.Conditions = slices.Clone(pod.Status.Conditions)
				pod.Status.Conditions[i].Status, pod.Status.Conditions[i].Reason = corev1.ConditionTrue, reason
				pod.Status.Conditions[i].LastTransitionTime = metav1.Time{Time: h.Now}
			})
		}
	}
	return happened
}

// closed reports whether a gate keeps a pod from becoming ready.
func (h *host) closed(pod *corev1.Pod) bool {
	return slices.ContainsFunc(pod.Spec.ReadinessGates, func(gate corev1.PodReadinessGate) bool {
		return h.isKept(gate.ConditionType) && !slices.ContainsFunc(pod.Status.Conditions, func(condition corev1.PodCondition) bool {
			return condition.Type == gate.ConditionType && condition.Status == corev1.ConditionTrue
		})
	})
}

func (h *host) isGate(kind corev1.PodConditionType) bool {
	disruption := h.Set.Spec.Disruption
	return disruption != nil &&
		slices.ContainsFunc(disruption.Gates, func(gate v1.DisruptionGate) bool { return gate.ConditionType == string(kind) })
}

// isKept reports whether the controller, or an agent of a gate, sets a condition to keep a pod from
// being ready, so that no node sets it.
func (h *host) isKept(kind corev1.PodConditionType) bool {
	return h.isGate(kind) || kind == v1.PodInService
}

// takenOut reports whether a pod is still ready although the controller has taken it out of
// service.
func (h *host) takenOut(pod *corev1.Pod) bool {
	return plan.IsPodReady(pod) && slices.ContainsFunc(pod.Spec.ReadinessGates, isOfService) &&
		slices.ContainsFunc(pod.Status.Conditions, func(condition corev1.PodCondition) bool {
			return condition.Type == v1.PodInService && condition.Status != corev1.ConditionTrue
		})
}

func isOfService(gate corev1.PodReadinessGate) bool { return gate.ConditionType == v1.PodInService }

func (h *host) leave(name string) {
	change(h.Pods, name, func(pod *corev1.Pod) {
		pod.Status.Conditions = slices.Clone(pod.Status.Conditions)
		for i := range pod.Status.Conditions {
			if condition := &pod.Status.Conditions[i]; condition.Type == corev1.PodReady {
				condition.Status, condition.LastTransitionTime = corev1.ConditionFalse, metav1.Time{Time: h.Now}
			}
		}
	})
}
