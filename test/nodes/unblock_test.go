//go:build nodes

// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package nodes

import (
	"fmt"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// TestAMistakeThatIsCorrected makes the two mistakes that keep an update from starting, and
// corrects them. The built-in set needs a hand.
func TestAMistakeThatIsCorrected(t *testing.T) {
	forBoth(t, "an update that could not start goes on when the template is corrected (built-in: and the pod deleted)",
		func(t *testing.T, k kind) {
			s := newSet(t, k, 2, nil)
			byHand := k.name == "built-in"
			if !byHand {
				s.patch(t, `{"spec":{"updateStrategy":{"rollingUpdate":{"replaceUnreadyAfterSeconds":5}}}}`)
			}
			for _, mistake := range []struct {
				make, correct string
				shows         func(*corev1.Pod) error
			}{
				{withImage("localhost/wbe:dev"), withImage(image), lacksImage},
				{`[{"op":"add","path":"/spec/template/spec/nodeSelector","value":{"disk":"none"}}]`,
					`[{"op":"remove","path":"/spec/template/spec/nodeSelector"}]`, lacksNode},
			} {
				s.change(t, mistake.make)
				stuck := s.awaitPod(t, 1, "cannot start", mistake.shows)
				s.change(t, mistake.correct)
				if byHand {
					if err := cluster.Host.CoreV1().Pods(s.ns).Delete(t.Context(), stuck.Name,
						metav1.DeleteOptions{Preconditions: metav1.NewUIDPreconditions(string(stuck.UID))}); err != nil {
						t.Fatalf("deleting the pod by hand: %v", err)
					}
				}
				s.awaitReady(t, 2)
			}
		})
}

func withImage(image string) string {
	return fmt.Sprintf(`[{"op":"replace","path":"/spec/template/spec/containers/0/image","value":%q}]`, image)
}

func (s *set) change(t *testing.T, patch string) {
	t.Helper()
	if _, err := cluster.Dynamic.Resource(s.kind.gvr).Namespace(s.ns).Patch(t.Context(), name, types.JSONPatchType, []byte(patch),
		metav1.PatchOptions{}); err != nil {
		t.Fatalf("changing the set: %v", err)
	}
}

func lacksImage(pod *corev1.Pod) error {
	for _, c := range pod.Status.ContainerStatuses {
		if waiting := c.State.Waiting; waiting != nil && strings.Contains(waiting.Reason, "Image") {
			return nil
		}
	}
	return fmt.Errorf("its containers are %v", pod.Status.ContainerStatuses)
}

func lacksNode(pod *corev1.Pod) error {
	for _, c := range pod.Status.Conditions {
		if c.Type == corev1.PodScheduled && c.Reason == corev1.PodReasonUnschedulable {
			return nil
		}
	}
	return fmt.Errorf("its conditions are %v", pod.Status.Conditions)
}
