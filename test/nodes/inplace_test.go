//go:build nodes

// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package nodes

import (
	"errors"
	"fmt"
	"testing"

	corev1 "k8s.io/api/core/v1"

	v1 "statefulset.dev/api/apps/v1"
)

// TestAnImageIsChangedInPlace gives members an image that does not exist, and corrects it: the
// container is another one then, in the pod that was there.
func TestAnImageIsChangedInPlace(t *testing.T) {
	for _, k := range kinds() {
		if k.name == "built-in" {
			continue
		}
		s := newSet(t, k, 2, func(set *v1.StatefulSet) { set.Spec.PodManagementPolicy = v1.ParallelPodManagement })
		s.patch(t, `{"spec":{"updateStrategy":{"rollingUpdate":{"inPlace":{"policy":"Only"}}}}}`)
		before := []*corev1.Pod{s.pod(t, 0), s.pod(t, 1)}

		s.change(t, withImage("localhost/wbe:dev"))
		s.awaitPod(t, 1, "cannot be restarted with an image that does not exist", lacksImage)
		s.change(t, withImage(image))
		s.awaitReady(t, 2)
		for i, old := range before {
			s.awaitPod(t, i, "is the one of before, as it is to be", func(pod *corev1.Pod) error {
				_, noted := pod.Annotations[v1.InPlaceAnnotation]
				if pod.UID != old.UID || pod.Status.PodIP != old.Status.PodIP || noted {
					return fmt.Errorf("its UID is %s with IP %s, which were %s and %s; its annotations are %v", pod.UID, pod.Status.PodIP, old.UID, old.Status.PodIP, pod.Annotations)
				}
				return nil
			})
		}
		s.awaitPod(t, 1, "has another container", otherContainer(before[1]))

		s.change(t, `[{"op":"add","path":"/spec/template/metadata/labels/tier","value":"gold"}]`)
		s.awaitPod(t, 0, "has the label, and the container of before", func(pod *corev1.Pod) error {
			if pod.UID != before[0].UID || pod.Labels["tier"] != "gold" || containerOf(pod) != containerOf(before[0]) {
				return fmt.Errorf("it has UID %s, which was %s, the labels %v and the containers %v", pod.UID, before[0].UID, pod.Labels, pod.Status.ContainerStatuses)
			}
			return nil
		})
	}
}

// TestAMemberIsDrainedBeforeItIsRestarted drains a member: it is not ready for as long as the set says
// before its container is another one, in the pod that was there, and ready again after that.
func TestAMemberIsDrainedBeforeItIsRestarted(t *testing.T) {
	for _, k := range kinds() {
		if k.name == "built-in" {
			continue
		}
		s := newSet(t, k, 2, func(set *v1.StatefulSet) {
			set.Spec.PodManagementPolicy = v1.ParallelPodManagement
			set.Spec.UpdateStrategy = v1.StatefulSetUpdateStrategy{Type: v1.RollingUpdateStatefulSetStrategyType, RollingUpdate: &v1.RollingUpdateStatefulSetStrategy{
				InPlace: &v1.InPlaceUpdate{Policy: v1.OnlyInPlaceUpdatePolicyType, DrainSeconds: new(int32(5))}}}
		})
		before := s.pod(t, 1)
		s.change(t, withImage("localhost/wbe:dev"))
		s.awaitPod(t, 1, "is drained, and runs on", func(pod *corev1.Pod) error {
			for _, c := range pod.Status.Conditions {
				if c.Type == corev1.PodReady && c.Status == corev1.ConditionFalse && pod.UID == before.UID && containerOf(pod) == containerOf(before) {
					return nil
				}
			}
			return fmt.Errorf("its UID is %s, which was %s, its conditions are %v", pod.UID, before.UID, pod.Status.Conditions)
		})
		s.change(t, withImage(image))
		s.awaitReady(t, 2)
		s.awaitPod(t, 1, "is the one of before, and in service", func(pod *corev1.Pod) error {
			for _, c := range pod.Status.Conditions {
				if _, noted := pod.Annotations[v1.InPlaceAnnotation]; c.Type == v1.PodInService && c.Status == corev1.ConditionTrue && pod.UID == before.UID && !noted {
					return nil
				}
			}
			return fmt.Errorf("its UID is %s, which was %s, its conditions are %v", pod.UID, before.UID, pod.Status.Conditions)
		})
	}
}

// otherContainer reports an error unless a pod runs another container than before.
func otherContainer(before *corev1.Pod) func(*corev1.Pod) error {
	return func(pod *corev1.Pod) error {
		switch now, then := containerOf(pod), containerOf(before); {
		case now == "" || then == "":
			return errors.New("its status names no container")
		case now == then:
			return fmt.Errorf("its container is %s still", now)
		default:
			return nil
		}
	}
}

// containerOf is the ID of a pod's first container, empty if its status names none.
func containerOf(pod *corev1.Pod) string {
	if len(pod.Status.ContainerStatuses) == 0 {
		return ""
	}
	return pod.Status.ContainerStatuses[0].ContainerID
}
