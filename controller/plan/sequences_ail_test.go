// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// ail carries out the commands by which pods do not start, and reports false if it
// knows no such command.
//
// "unschedulable web-0 WHY" leaves a pod without a node; "waiting web-0 db
// ImagePullBackOff" keeps a container from starting; "ended web-0 db 137 OOMKilled"
// ends one, and "restarted" starts it again.
func (s *stage) ail(name string, args []string) bool {
	switch name {
	case "unschedulable":
		s.changePod(args[0], func(pod *corev1.Pod) {
			pod.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodScheduled, Status: corev1.ConditionFalse,
				Reason: corev1.PodReasonUnschedulable, Message: strings.Join(args[1:], " "), LastTransitionTime: metav1.Time{Time: s.now}}}
		})
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

func (s *stage) terminated(args []string) *corev1.ContainerStateTerminated {
	return &corev1.ContainerStateTerminated{ExitCode: int32(s.number(args[2])), Reason: args[3]}
}

func (s *stage) container(args []string, status corev1.ContainerStatus) {
	status.Name = args[1]
	s.changePod(args[0], func(pod *corev1.Pod) {
		pod.Status.ContainerStatuses = []corev1.ContainerStatus{status}
		if pod.Status.Phase == corev1.PodRunning {
			pod.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionFalse, LastTransitionTime: metav1.Time{Time: s.now}}}
		}
	})
}
