// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "statefulset.dev/api/apps/v1"
	"statefulset.dev/controller/plan/action"
)

// excused reports whether a pod that runs and is not ready is not so because of a gate that was
// asked, or was until the kubelet noticed.
func excused(pod *corev1.Pod) bool {
	_, asked := pod.Annotations["apps.statefulset.dev/disruption"]
	ever := pod.Annotations["apps.statefulset.dev/disruption-count"] != ""
	conditions := map[corev1.PodConditionType]corev1.PodCondition{}
	for _, c := range pod.Status.Conditions {
		conditions[c.Type] = c
	}
	if !asked && !ever && !hasServiceGate(pod) || pod.Status.Phase != corev1.PodRunning {
		return false
	}
	if leaves(pod) {
		return true
	}
	if conditions[corev1.ContainersReady].Status == corev1.ConditionFalse {
		return false
	}
	strange, recent := 0, false
	for _, gate := range pod.Spec.ReadinessGates {
		c, is := conditions[gate.ConditionType]
		switch {
		case string(gate.ConditionType) == inServiceType && c.Status != corev1.ConditionTrue:
			return true
		case is && c.Status == corev1.ConditionFalse && (asked || c.Reason == "Requested"), !is && asked:
			return true
		case c.Status != corev1.ConditionTrue:
			strange++
		case c.LastTransitionTime.Unix() >= conditions[corev1.PodReady].LastTransitionTime.Unix():
			recent = true
		}
	}
	return strange == 0 && recent
}

// leaves reports whether a pod is asked about, and was not broken before, or is drained.
func leaves(pod *corev1.Pod) bool {
	if restarted, _ := noted(pod); len(restarted) > 0 {
		return false
	}
	asked, open := askedOf(pod)
	_, drained := drainedSince(pod)
	return open && asked.Operation != "" && !asked.Broken || drained
}

// isTakenOutWhileHealthy reports whether a member is asked about, or drained, and not broken.
func (f evidence) isLeaving(ordinal int) bool {
	pod := f.member(ordinal)
	if pod == nil || pod.DeletionTimestamp != nil || pod.Status.Phase == corev1.PodFailed || pod.Status.Phase == corev1.PodSucceeded {
		return false
	}
	_, broken := unreadySince(pod)
	_, asked := askedOf(pod)
	_, drained := drainedSince(pod)
	return (asked || drained) && !broken
}

// operationOn is what a pod is to be removed for, empty if it is to stay.
func (j *judged) operationOn(pod *corev1.Pod) string {
	ordinal := j.ordinalOf(pod.Name)
	switch {
	case !j.wanted(ordinal):
		return "ScaleDown"
	case j.mayTake(pod, ordinal) && !j.rests(), j.mayUnblock(pod, ordinal):
		return "Update"
	case j.asked(pod):
		return "Replace"
	default:
		return ""
	}
}

func (f evidence) gates() []v1.DisruptionGate {
	if f.Set.Spec.Disruption == nil {
		return nil
	}
	return f.Set.Spec.Disruption.Gates
}

// disagrees is a gate that does not agree that a pod is removed, empty if there is none.
func (j *judged) disagrees(pod *corev1.Pod) (gate string) {
	operation := j.operationOn(pod)
	asked, open := askedOf(pod)
	if _, broken := unreadySince(pod); broken && operation == "Update" || pod.Status.Phase == corev1.PodFailed ||
		pod.Status.Phase == corev1.PodSucceeded {
		return ""
	}
	for _, g := range j.gates() {
		if len(g.Operations) > 0 && !slices.Contains(g.Operations, v1.DisruptionOperationType(operation)) {
			continue
		}
		var is corev1.PodCondition
		for _, c := range pod.Status.Conditions {
			if string(c.Type) == g.ConditionType {
				is = c
			}
		}
		fresh := open && asked.Operation == operation
		if fresh && is.Status == corev1.ConditionTrue && is.Reason == fmt.Sprintf("Request%d", asked.ID) {
			continue
		}
		if fresh && is.Status == corev1.ConditionFalse && g.TimeoutSeconds != nil {
			left := time.Duration(*g.TimeoutSeconds)*time.Second - j.Now.Sub(
				slices.MaxFunc([]time.Time{asked.Since.Time, is.LastTransitionTime.Time}, time.Time.Compare))
			if left <= 0 {
				continue
			}
		}
		gate = g.ConditionType
	}
	return gate
}

// gated: no pod is removed that a gate is to be asked about and that serves, or does not because
// it was asked, before all have agreed to the present question, or their time is up.
func (j *judged) gated() {
	for _, act := range planned[action.DeletePod](j) {
		pod := j.pods[act.Pod.Name]
		if pod == nil || act.Reason == action.DeleteFinished || act.Reason == action.DeleteUnready || isGivenUp(act) {
			continue
		}
		if gate := j.disagrees(pod); gate != "" {
			j.broke("gate", "%s although %s does not agree, with the annotations %v and conditions %v", act, gate, pod.Annotations,
				pod.Status.Conditions)
		}
	}
	for _, act := range planned[action.UpdateInPlace](j) {
		pod := j.pods[act.Pod.Name]
		mayEnd := disturbs(act) || act.Otherwise != nil
		if pod == nil || !mayEnd || act.Otherwise != nil && act.Otherwise.Reason == action.DeleteUnready {
			continue
		}
		if gate := j.disagrees(pod); gate != "" {
			j.broke("gate", "%s although %s does not agree, with the annotations %v and conditions %v", act, gate, pod.Annotations,
				pod.Status.Conditions)
		}
	}
}

// evictions: what a set asks to have evicted is evicted, if it is ready and is removed because
// the set is to be otherwise; nothing else is.
func (j *judged) evictions() {
	asks := j.Set.Spec.Disruption != nil && j.Set.Spec.Disruption.Method == "Evict"
	for _, act := range planned[action.DeletePod](j) {
		pod := j.pods[act.Pod.Name]
		if pod == nil {
			continue
		}
		_, is := ready(pod)
		if want := asks && is && act.Reason != action.DeleteUnready && act.Reason != action.DeleteFinished; act.Evict != want {
			j.broke("eviction", "%s is an eviction: got %t, want %t", act, act.Evict, want)
		}
		if act.Evict {
			j.oneUnseen(act, pod)
		}
	}
}

// questions: what is asked was written down before, under a number of its own, for what is to
// be done; and is withdrawn only if that is not so any more.
func (j *judged) questions() {
	for _, act := range planned[action.PatchPod](j) {
		pod, text := j.pods[act.Pod.Name], act.Annotations["apps.statefulset.dev/disruption"]
		asked, open := askedOf(pod)
		if text == nil {
			if isTold(act) {
				continue
			}
			if !open || len(act.Annotations) != 1 {
				j.broke("question", "%s, which nobody asks", act)
			}
			continue
		}
		next, _ := askedOf(&corev1.Pod{ObjectMeta: *withAnnotation(*text)})
		count := act.Annotations["apps.statefulset.dev/disruption-count"]
		if count == nil || *count != fmt.Sprint(next.ID) || next.ID <= asked.ID ||
			fmt.Sprint(next.ID) == pod.Annotations["apps.statefulset.dev/disruption-count"] {
			j.broke("question", "%s with the number %d after %d", act, next.ID, asked.ID)
		}
		if operation := j.operationOn(pod); next.Operation != operation || operation == "" {
			j.broke("question", "%s for %q, and the pod is to be removed for %q", act, next.Operation, operation)
		}
		if open && asked.Operation == next.Operation && asked.Revision == next.Revision {
			j.broke("question", "%s again: %+v", act, asked)
		}
	}
	for _, act := range planned[action.SetPodConditions](j) {
		pod := j.pods[act.Pod.Name]
		asked, open := askedOf(pod)
		for _, c := range act.Conditions {
			if c.Reason == "RevisionChanged" || string(c.Type) == inServiceType {
				continue // they have invariants of their own
			}
			closes := c.Status == corev1.ConditionFalse
			if closes && (!open || asked.Operation != j.operationOn(pod) || c.Reason != "Requested") || !closes && c.Reason != "NotRequested" {
				j.broke("write-ahead", "%s of a pod with the annotations %v that is to be removed for %q", act, pod.Annotations, j.operationOn(pod))
			}
		}
	}
}

func withAnnotation(text string) *metav1.ObjectMeta {
	return &metav1.ObjectMeta{Annotations: map[string]string{"apps.statefulset.dev/disruption": text}}
}

// askedOrDrained is the pod with whose end an action begins, nil if with none.
func (j *judged) askedOrDrained(act action.Action) *corev1.Pod {
	switch a := act.(type) {
	case action.PatchPod:
		if !isTold(a) {
			return j.pods[a.Pod.Name]
		}
	case action.SetPodConditions:
		if takesOut(a) {
			return j.pods[a.Pod.Name]
		}
	}
	return nil
}

// waitsForGate: a set that only waits for gates says so.
func (j *judged) waitsForGate() {
	if ready := j.says(v1.StatefulSetReady); ready.Reason == v1.ReasonWaitingForGate && !strings.Contains(ready.Message, "waits until") {
		j.broke("gate told", "the set says %v", ready)
	}
}
