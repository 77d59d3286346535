// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "statefulset.dev/api/apps/v1"
)

// livenessMutants take what one pod reports for more, or less, than it is.
func livenessMutants() map[string]scripted {
	return map[string]scripted{
		"removes a pod that stops being ready while it is asked": {"gate-breaks", mutant{"gate", onUnready(brokenBefore)}},
		"updates such a pod in place":                            {"gate-unready-in-place", mutant{"gate", onUnready(brokenBefore)}},
		"takes a drained pod that is not ready for broken":       {"drain-broken", mutant{"drain", onUnready(inServiceAgain)}},
		"grows claims of all while the driver is at work": {"claims-grow", mutant{"growth budget", func(w World, p Plan) Plan {
			w.Claims = copies(w.Claims)
			for _, claim := range w.Claims {
				claim.Status.AllocatedResourceStatuses = map[corev1.ResourceName]corev1.ClaimResourceStatus{
					corev1.ResourceStorage: corev1.PersistentVolumeClaimControllerResizeInfeasible}
			}
			return doing(p, Compute(w))
		}}},
		"does not wait for a pod that terminates": {"rate-remove-dead-node", mutant{"rate of removal", onEnding(-time.Hour)}},
		"waits for the end of a pod for an hour": {"rate-remove-dead-node", mutant{"next look", func(w World, p Plan) Plan {
			if slices.ContainsFunc(w.Pods, func(pod *corev1.Pod) bool { return pod.DeletionTimestamp != nil }) {
				p.RequeueAfter += time.Hour
			}
			return p
		}}},
		"forgets when a broken surplus pod is given up": {"scale-down-broken", mutant{"next look", func(w World, p Plan) Plan {
			p.RequeueAfter += time.Minute
			return p
		}}},
	}
}

// onUnready plans as if pods that are not ready were other ones.
func onUnready(change func(*corev1.Pod)) func(World, Plan) Plan {
	return func(w World, p Plan) Plan {
		w.Pods = copies(w.Pods)
		for _, pod := range w.Pods {
			if !isReady(pod) {
				change(pod)
			}
		}
		return doing(p, Compute(w))
	}
}

// brokenBefore makes the question of a pod say that it was broken before, as its containers say that it is.
func brokenBefore(pod *corev1.Pod) {
	pod.Status.Conditions = slices.Insert(pod.Status.Conditions, 0,
		corev1.PodCondition{Type: corev1.ContainersReady, Status: corev1.ConditionFalse})
	text := pod.Annotations[v1.DisruptionAnnotation]
	if text != "" && !strings.Contains(text, `"broken"`) {
		pod.Annotations[v1.DisruptionAnnotation] = strings.Replace(text, "{", `{"broken":true,`, 1)
	}
}

// inServiceAgain makes a pod say that it is in service.
func inServiceAgain(pod *corev1.Pod) {
	for i := range pod.Status.Conditions {
		if c := &pod.Status.Conditions[i]; string(c.Type) == inServiceType {
			c.Status, c.LastTransitionTime = corev1.ConditionTrue, metav1.Time{}
		}
	}
}

// onEnding plans as if pods that terminate were to end later, or should have ended.
func onEnding(later time.Duration) func(World, Plan) Plan {
	return func(w World, p Plan) Plan { return doing(p, withEnds(w, later)) }
}

func withEnds(w World, later time.Duration) Plan {
	w.Pods = copies(w.Pods)
	for _, pod := range w.Pods {
		if pod.DeletionTimestamp != nil {
			pod.DeletionTimestamp = &metav1.Time{Time: pod.DeletionTimestamp.Add(later)}
		}
	}
	return Compute(w)
}
