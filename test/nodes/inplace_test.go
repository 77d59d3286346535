//go:build nodes

// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package nodes

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	corev1 "k8s.io/api/core/v1"

	v1 "statefulset.dev/api/apps/v1"
	"statefulset.dev/test/harness"
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
					return fmt.Errorf("its UID is %s with IP %s, which were %s and %s; its annotations are %v", pod.UID, pod.Status.PodIP, old.UID,
						old.Status.PodIP, pod.Annotations)
				}
				return nil
			})
		}
		s.awaitPod(t, 1, "has another container", otherContainer(before[1]))

		s.change(t, `[{"op":"add","path":"/spec/template/metadata/labels/tier","value":"gold"}]`)
		s.awaitPod(t, 0, "has the label, and the container of before", func(pod *corev1.Pod) error {
			if pod.UID != before[0].UID || pod.Labels["tier"] != "gold" || containerOf(pod) != containerOf(before[0]) {
				return fmt.Errorf("it has UID %s, which was %s, the labels %v and the containers %v", pod.UID, before[0].UID, pod.Labels,
					pod.Status.ContainerStatuses)
			}
			return nil
		})
	}
}

// TestAnotherNameOfTheSameImage gives members a name of their image that means the same bytes: that the
// container is another one cannot be told from its image.
func TestAnotherNameOfTheSameImage(t *testing.T) {
	forOurs(t, "members are restarted in place with another name of the image that they have", func(t *testing.T, k kind) {
		s := newSet(t, k, 2, func(set *v1.StatefulSet) {
			set.Spec.UpdateStrategy = v1.StatefulSetUpdateStrategy{
				Type: v1.RollingUpdateStatefulSetStrategyType, RollingUpdate: &v1.RollingUpdateStatefulSetStrategy{
					InPlace: &v1.InPlaceUpdate{Policy: v1.OnlyInPlaceUpdatePolicyType}}}
		})
		before := []*corev1.Pod{s.pod(t, 0), s.pod(t, 1)}
		pods := s.watchPods(t)
		s.change(t, withImage("localhost/web:again"))
		s.awaitReady(t, 2)
		s.awaitReason(t, v1.ReasonMembersAvailable, "")
		for ordinal, old := range before {
			s.awaitPod(t, ordinal, "has another container", otherContainer(old))
			now := s.pod(t, ordinal)
			if got := now.Spec.Containers[0].Image; got != "localhost/web:again" {
				t.Errorf("member %d has the image %s, want localhost/web:again", ordinal, got)
			}
			if is, was := now.Status.ContainerStatuses[0].ImageID, old.Status.ContainerStatuses[0].ImageID; is != was {
				t.Errorf("member %d runs %s, and ran %s: these were to be the same", ordinal, is, was)
			}
		}
		pods.expect(t)
	})
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
			set.Spec.UpdateStrategy = v1.StatefulSetUpdateStrategy{
				Type: v1.RollingUpdateStatefulSetStrategyType, RollingUpdate: &v1.RollingUpdateStatefulSetStrategy{
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
				if _, noted := pod.Annotations[v1.InPlaceAnnotation]; c.Type == v1.PodInService && c.Status == corev1.ConditionTrue &&
					pod.UID == before.UID && !noted {
					return nil
				}
			}
			return fmt.Errorf("its UID is %s, which was %s, its conditions are %v", pod.UID, before.UID, pod.Status.Conditions)
		})
	}
}

// TestAChangeThatNoKubeletHasSeen takes a change of an image back while the kubelet is not there. Nobody
// can know then whether the container is still to be restarted, so the pod stays as it is until the
// kubelet is back and has restarted the container; the pod and its address stay throughout.
func TestAChangeThatNoKubeletHasSeen(t *testing.T) {
	for _, k := range kinds() {
		if k.name == "built-in" {
			continue
		}
		s := newSet(t, k, 1, nil)
		s.patch(t, `{"spec":{"updateStrategy":{"rollingUpdate":{"inPlace":{"policy":"Only"}}}}}`)
		before := s.pod(t, 0)
		node(t, "leave", before.Spec.NodeName)
		back := sync.OnceFunc(func() { bring(t, before.Spec.NodeName) })
		t.Cleanup(back)

		s.change(t, withImage("localhost/wbe:dev"))
		s.awaitPod(t, 0, "is given an image that does not exist", func(pod *corev1.Pod) error {
			if got := pod.Spec.Containers[0].Image; got != "localhost/wbe:dev" {
				return fmt.Errorf("its image is %s", got)
			}
			return nil
		})
		s.change(t, withImage(image))
		harness.Eventually(t, "the set waits for the container", func(ctx context.Context) error {
			said, err := s.says(ctx)
			if err == nil && !strings.Contains(said, "restarting in place (since") {
				err = fmt.Errorf("it says %q", said)
			}
			return err
		})
		if pod := s.pod(t, 0); pod.Spec.Containers[0].Image != "localhost/wbe:dev" || pod.UID != before.UID {
			t.Errorf("without a kubelet, pod %s has image %s, want pod %s with the image that it was given last", pod.UID,
				pod.Spec.Containers[0].Image, before.UID)
		}

		back()
		s.awaitReady(t, 1)
		s.awaitPod(t, 0, "has another container", otherContainer(before))
		if pod := s.pod(t, 0); pod.UID != before.UID || pod.Status.PodIP != before.Status.PodIP || pod.Spec.Containers[0].Image != image {
			t.Errorf("in the end there is pod %s with IP %s and image %s, want pod %s with IP %s and image %s",
				pod.UID, pod.Status.PodIP, pod.Spec.Containers[0].Image, before.UID, before.Status.PodIP, image)
		}
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
