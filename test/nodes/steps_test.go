//go:build nodes

// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package nodes

import (
	"fmt"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	v1 "statefulset.dev/api/apps/v1"
)

// bySteps has updates go by steps.
func bySteps(steps ...v1.RolloutStep) func(*v1.StatefulSet) {
	return func(made *v1.StatefulSet) {
		made.Spec.UpdateStrategy.RollingUpdate = &v1.RollingUpdateStatefulSetStrategy{Steps: steps}
	}
}

// update changes the template, to something that works as well.
const update = `{"spec":{"template":{"metadata":{"annotations":{"update":"1"}}}}}`

// TestAStepWaitsForASidecarAndAPerson: who judges the canary is a process beside it, with
// rights of its own, and then somebody has to agree.
func TestAStepWaitsForASidecarAndAPerson(t *testing.T) {
	forOurs(t, "a step waits for a condition that a sidecar writes, and then for somebody to promote it", func(t *testing.T, k kind) {
		s := newSetWithAgents(t, k, 3, healthy, bySteps(v1.RolloutStep{
			Updated: intstr.FromInt32(1), PodConditions: []string{"example.com/healthy"}, Approval: v1.ManualRolloutStepApproval,
		}))
		pods := s.watchPods(t)
		s.patch(t, update)
		s.awaitReason(t, v1.ReasonWaitingForConditions, "waiting for condition example.com/healthy of pod web-2")
		if said, err := s.sts(t, "rollout", "promote", "statefulset/"+name, "--step=1"); err != nil {
			t.Fatalf("promoting the step: got %v and %q", err, said)
		}
		// It is promoted in advance, and waits for the sidecar all the same.
		s.awaitReason(t, v1.ReasonWaitingForConditions, "waiting for condition example.com/healthy of pod web-2")
		pods.expect(t, recreations("web-2")...)
		s.put(t, 2, "value", "healthy")
		pods.expect(t, recreations("web-2", "web-1", "web-0")...)
		s.awaitReady(t, 3)

		// The next update is judged first, and then somebody agrees.
		s.patch(t, strings.Replace(update, `"1"`, `"2"`, 1))
		s.awaitReason(t, v1.ReasonWaitingForConditions, "waiting for condition example.com/healthy of pod web-2")
		s.put(t, 2, "value", "healthy")
		s.awaitReason(t, v1.ReasonWaitingForPromotion, "waiting for approval: kubectl sts rollout promote --step=1")
		pods.expect(t, recreations("web-2", "web-1", "web-0", "web-2")...)
		if said, err := s.sts(t, "rollout", "promote", "statefulset/"+name); err != nil {
			t.Fatalf("promoting the step: got %v and %q", err, said)
		}
		s.awaitReady(t, 3)
		pods.expect(t, recreations("web-2", "web-1", "web-0", "web-2", "web-1", "web-0")...)
	})
}

// TestAnImageThatCrashesIsRolledBack gives members a program that ends at once.
func TestAnImageThatCrashesIsRolledBack(t *testing.T) {
	forOurs(t, "an image that crashes is taken back from the first member, and reaches no other", func(t *testing.T, k kind) {
		s := newSet(t, k, 3, func(made *v1.StatefulSet) {
			bySteps(v1.RolloutStep{Updated: intstr.FromInt32(1)})(made)
			made.Spec.UpdateStrategy.RollingUpdate.FailurePolicy = new(v1.RollbackRolloutFailurePolicy)
			made.Spec.ProgressDeadlineSeconds = new(int32(15))
		})
		pods := s.watchPods(t)
		s.change(t, withImage("localhost/busybox:dev"))
		found := s.awaitReason(t, v1.ReasonRolledBack, "web-2")
		pods.expect(t, recreations("web-2", "web-2")...)
		for ordinal := range 3 {
			s.awaitPod(t, ordinal, "is ready with the image of before", func(pod *corev1.Pod) error {
				if got := pod.Spec.Containers[0].Image; got != image || readySince(pod).IsZero() {
					return fmt.Errorf("it has the image %s, want %s, and the conditions %v", got, image, pod.Status.Conditions)
				}
				return nil
			})
		}
		if got, want := found.Spec.Template.Spec.Containers[0].Image, "localhost/busybox:dev"; got != want {
			t.Errorf("the template has image %s, want %s: it is never rewritten", got, want)
		}
		// To take the template back is all that is left to do.
		s.change(t, withImage(image))
		s.awaitReady(t, 3)
		pods.expect(t, recreations("web-2", "web-2")...)
	})
}

// TestAServerThatIsKilledInAnUpdateBySteps kills our server when the update begins, while its
// first step bakes, and after that.
func TestAServerThatIsKilledInAnUpdateBySteps(t *testing.T) {
	forOurs(t, "an update by steps ends although our server is killed in each of them, and recreates each member once",
		func(t *testing.T, k kind) {
			s := newSet(t, k, 3, bySteps(
				v1.RolloutStep{Updated: intstr.FromInt32(1), BakeSeconds: 5},
				v1.RolloutStep{Updated: intstr.FromInt32(2), BakeSeconds: 1},
			))
			pods := s.watchPods(t)
			before := s.pod(t, 2)
			s.patch(t, update)
			s.killServer(t)
			s.awaitPod(t, 2, "is updated", recreated(before))
			before = s.pod(t, 1)
			s.killServer(t)
			s.awaitPod(t, 1, "is updated", recreated(before))
			s.killServer(t)
			s.awaitReady(t, 3)
			pods.expect(t, recreations("web-2", "web-1", "web-0")...)
			if found, err := s.get(t.Context()); err != nil || found.Object["status"].(map[string]any)["rollout"] != nil {
				t.Errorf("the set is %v with error %v, want none of the update left in its status", found, err)
			}
		})
}
