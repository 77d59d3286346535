// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// ail carries out the commands by which pods do not start, and reports false if it
// knows no such command.
//
// "unschedulable web-0 WHY" leaves a pod without a node; "waiting web-0 db
// ImagePullBackOff" keeps a container from starting; "ended web-0 db 137 OOMKilled"
// ends one, and "restarted" starts it again. "loseNode web-0 NodeLost" is what happens to a pod whose
// node is lost, until "findNode". "unbound www-web-0 fast" is a claim of a class that
// waits for a volume.
func (s *stage) ail(name string, args []string) bool {
	switch name {
	case "unschedulable":
		s.changePod(args[0], func(pod *corev1.Pod) {
			pod.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodScheduled, Status: corev1.ConditionFalse,
				Reason: corev1.PodReasonUnschedulable, Message: strings.Join(args[1:], " "), LastTransitionTime: metav1.Time{Time: s.now}}}
		})
	case "loseNode":
		s.changePod(args[0], func(pod *corev1.Pod) {
			pod.Status.Phase, pod.Status.Reason, pod.Spec.NodeName = corev1.PodUnknown, args[1], "node-1"
		})
	case "findNode":
		s.changePod(args[0], func(pod *corev1.Pod) { pod.Status.Phase, pod.Status.Reason = corev1.PodRunning, "" })
	case "unbound":
		s.unbind(args[0], args[1:])
	case "unmount":
		s.changePod(args[0], func(pod *corev1.Pod) { pod.Spec.Volumes = nil })
	case "waiting":
		s.container(args, corev1.ContainerStatus{State: corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: args[2]}}})
	case "ended":
		s.container(args, corev1.ContainerStatus{State: corev1.ContainerState{Terminated: s.terminated(args)}})
	case "restarted":
		s.container(args, corev1.ContainerStatus{
			State:                corev1.ContainerState{Running: &corev1.ContainerStateRunning{}},
			LastTerminationState: corev1.ContainerState{Terminated: s.terminated(args)},
		})
	default:
		return false
	}
	return true
}

// unbind makes a claim wait for a volume of a class: of none if it is "none", of the empty one if it is
// not given.
func (s *stage) unbind(name string, class []string) {
	claim := s.claims[name].DeepCopy()
	claim.Status.Phase, claim.Spec.StorageClassName = corev1.ClaimPending, new(strings.Join(class, ""))
	if slices.Equal(class, []string{"none"}) {
		claim.Spec.StorageClassName = nil
	}
	s.claims[name] = claim
}

func (s *stage) terminated(args []string) *corev1.ContainerStateTerminated {
	return &corev1.ContainerStateTerminated{ExitCode: int32(s.number(args[2])), Reason: args[3]}
}

func (s *stage) container(args []string, status corev1.ContainerStatus) {
	status.Name = args[1]
	s.changePod(args[0], func(pod *corev1.Pod) {
		pod.Status.ContainerStatuses = []corev1.ContainerStatus{status}
		if pod.Status.Phase == corev1.PodRunning {
			pod.Status.Conditions = []corev1.PodCondition{
				{Type: corev1.PodReady, Status: corev1.ConditionFalse, LastTransitionTime: metav1.Time{Time: s.now}}}
		}
	})
}
