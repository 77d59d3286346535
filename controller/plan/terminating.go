// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"fmt"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	"statefulset.dev/controller/plan/words"
)

// nodePatience is how long after its deadline a pod may still exist before its node is suspected.
// At the deadline, a kubelet kills what has not ended, unmounts volumes, and then reports that,
// which takes a healthy node a few seconds. Only messages depend on it.
const nodePatience = 10 * time.Second

// suspicious is the time from which a terminating pod takes too long.
func suspicious(pod *corev1.Pod) time.Time { return pod.DeletionTimestamp.Add(nodePatience) }

// waitForEnd records that the set waits for a terminating pod, with the usual suffix of the caller
// or, if that takes too long, with the cause.
func waitForEnd(f *facts, d *draft, pod *corev1.Pod, usual string) {
	if f.world.Now.Before(suspicious(pod)) {
		d.wait("pod %s is terminating%s", pod.Name, usual)
		return
	}
	d.wait("%s", lateEnd(pod))
}

// lateText names the first pod that should have terminated but still exists, empty if there is
// none.
func (f *facts) lateText() string {
	for m := range f.all() {
		if m.pod != nil && isTerminating(m.pod) && !f.world.Now.Before(suspicious(m.pod)) {
			return ": " + lateEnd(m.pod)
		}
	}
	return ""
}

// lateEnd says why a pod that should have terminated still exists, and what to do: only a person
// knows whether a node that does not answer is off. Until then the pod may still run there, so the
// controller does nothing about it.
func lateEnd(pod *corev1.Pod) string {
	deadline := words.Timestamp(pod.DeletionTimestamp.Time)
	switch {
	case len(pod.Finalizers) > 0:
		return fmt.Sprintf("pod %s should have terminated by %s, but it has finalizers: %s", pod.Name, deadline,
			strings.Join(pod.Finalizers, ", "))
	case pod.Spec.NodeName != "":
		return fmt.Sprintf(
			"pod %s should have terminated by %s, but node %s has not confirmed that, so the pod may still run there; if the node is off for good: kubectl taint node %s node.kubernetes.io/out-of-service=nodeshutdown:NoExecute",
			pod.Name, deadline, pod.Spec.NodeName, pod.Spec.NodeName)
	default:
		return fmt.Sprintf("pod %s should have terminated by %s", pod.Name, deadline)
	}
}

// nextSuspicion is the time until a terminating pod takes too long.
func (f *facts) nextSuspicion() time.Duration {
	var next time.Duration
	for m := range f.all() {
		if m.pod == nil || !isTerminating(m.pod) {
			continue
		}
		if left := suspicious(m.pod).Sub(f.world.Now); left > 0 {
			next = soonest(next, left)
		}
	}
	return next
}
