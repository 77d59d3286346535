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

// nodePatience is how long after its deadline a pod may still be there before its node
// is suspected. A kubelet kills at the deadline what has not ended, unmounts, and then
// says so, which takes a node that is well a few seconds. Nothing but words depends on it.
const nodePatience = 10 * time.Second

// suspicious is from when on it takes too long until a terminating pod is gone.
func suspicious(pod *corev1.Pod) time.Time { return pod.DeletionTimestamp.Add(nodePatience) }

// waitForEnd notes that the set waits for a terminating pod to be gone, in the words of
// the caller, and when that takes too long, what keeps it.
func waitForEnd(f *facts, d *draft, pod *corev1.Pod, usual string) {
	if f.world.Now.Before(suspicious(pod)) {
		d.wait("pod %s is terminating%s", pod.Name, usual)
		return
	}
	d.wait("%s", lateEnd(pod))
}

// lateText names the first pod that should be gone and is still there, empty if there is none.
func (f *facts) lateText() string {
	for m := range f.all() {
		if m.pod != nil && isTerminating(m.pod) && !f.world.Now.Before(suspicious(m.pod)) {
			return ": " + lateEnd(m.pod)
		}
	}
	return ""
}

// lateEnd says why a pod is still there that should be gone, and what to do about it: only people know
// whether a node that does not answer is off. Until then the pod may still run there, so the
// controller does nothing about it.
func lateEnd(pod *corev1.Pod) string {
	deadline := words.Clock(pod.DeletionTimestamp.Time)
	switch {
	case len(pod.Finalizers) > 0:
		return fmt.Sprintf("pod %s should have been gone by %s; its finalizers keep it: %s", pod.Name, deadline,
			strings.Join(pod.Finalizers, ", "))
	case pod.Spec.NodeName != "":
		return fmt.Sprintf(
			"pod %s should have ended by %s, and node %s has not confirmed that it has, so it may still run there; if the node is off for good: kubectl taint node %s node.kubernetes.io/out-of-service=nodeshutdown:NoExecute",
			pod.Name, deadline, pod.Spec.NodeName, pod.Spec.NodeName)
	default:
		return fmt.Sprintf("pod %s should have been gone by %s", pod.Name, deadline)
	}
}

// nextSuspicion is how long it takes until a terminating pod takes too long.
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
