//go:build e2e

// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"context"
	"fmt"
	"os"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "statefulset.dev/api/apps/v1"
	"statefulset.dev/test/harness"
)

const (
	// misplace is a mistake in a template, with which no node takes a pod; replace ends it.
	misplace = `{"spec":{"template":{"spec":{"nodeSelector":{"disk":"none"}}}}}`
	replace  = `{"spec":{"template":{"spec":{"nodeSelector":null}}}}`
)

// TestACorrectedTemplateUnblocksTheUpdate plays the example of the fields that say so: the
// update cannot start, the template is corrected, and nobody deletes a pod.
func TestACorrectedTemplateUnblocksTheUpdate(t *testing.T) {
	t.Parallel()
	ns := namespace(t)
	content, err := os.ReadFile("../../artifacts/examples/unblock.yaml")
	if err != nil {
		t.Fatalf("reading the example: %v", err)
	}
	pods := watchPods(t, ns)
	kubectlApply(t, strings.Replace(string(content), "AfterSeconds: 300", "AfterSeconds: 3", 1), "-n", ns)
	pods.expect(t, 0, "added db-0", "added db-1", "added db-2")
	waitReady(t, ns, "db", 3)

	mark := pods.mark()
	kubectl(t, "patch", kind, "db", "-n", ns, "--type=merge", "-p", misplace)
	pods.expect(t, mark, "deleted db-2", "added db-2")
	awaitUnschedulable(t, ns, "db-2")

	mark = pods.mark()
	kubectl(t, "patch", kind, "db", "-n", ns, "--type=merge", "-p", replace)
	pods.expect(t, mark, "deleted db-2", "added db-2")
	waitUpdated(t, ns)
	expectEvent(t, ns, v1.ReasonReplacingUnreadyMember, "db-2 is not ready at")
}

// TestASetSaysWhatKeepsItsUpdateFromGoingOn is the same without the field.
func TestASetSaysWhatKeepsItsUpdateFromGoingOn(t *testing.T) {
	t.Parallel()
	ns := namespace(t)
	create(t, ns, newSet("db", 2))
	waitReady(t, ns, "db", 2)
	kubectl(t, "patch", kind, "db", "-n", ns, "--type=merge", "-p", misplace)
	awaitUnschedulable(t, ns, "db-1")
	kubectl(t, "patch", kind, "db", "-n", ns, "--type=merge", "-p", replace)

	// Five minutes are too long for a test, so the pod is not ready since yesterday.
	pod, err := suite.Host.CoreV1().Pods(ns).Get(t.Context(), "db-1", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	stuck := pod.UID
	pod.Status.Conditions = append(pod.Status.Conditions, corev1.PodCondition{Type: corev1.PodReady, Status: corev1.ConditionFalse,
		LastTransitionTime: metav1.NewTime(pod.CreationTimestamp.AddDate(0, 0, -1))})
	if _, err := suite.Host.CoreV1().Pods(ns).UpdateStatus(t.Context(), pod, metav1.UpdateOptions{}); err != nil {
		t.Fatalf("dating back the pod: %v", err)
	}
	const says = "which was superseded: delete it, or set spec.updateStrategy.rollingUpdate.replaceUnreadyAfterSeconds"
	harness.Eventually(t, "the set says what to do", func(ctx context.Context) error {
		set, err := suite.Sets.AppsV1().StatefulSets(ns).Get(ctx, "db", metav1.GetOptions{})
		if err != nil {
			return err
		}
		for _, condition := range set.Status.Conditions {
			if condition.Type == v1.StatefulSetReady && strings.Contains(condition.Message, says) {
				return nil
			}
		}
		return fmt.Errorf("the conditions are %v, want Ready to say %q", set.Status.Conditions, says)
	})
	expectEvent(t, ns, v1.ReasonUnreadyMemberBlocks, "db-1 is not ready at")
	if pod, err := suite.Host.CoreV1().Pods(ns).Get(t.Context(), "db-1", metav1.GetOptions{}); err != nil || pod.UID != stuck {
		t.Errorf("pod db-1 is now that with UID %s (%v), want that with %s: nobody asked for another", pod.UID, err, stuck)
	}
}

func awaitUnschedulable(t *testing.T, ns, name string) {
	t.Helper()
	harness.Eventually(t, "no node takes pod "+name, func(ctx context.Context) error {
		pod, err := suite.Host.CoreV1().Pods(ns).Get(ctx, name, metav1.GetOptions{})
		if err != nil {
			return err
		}
		for _, condition := range pod.Status.Conditions {
			if condition.Type == corev1.PodScheduled && condition.Reason == corev1.PodReasonUnschedulable {
				return nil
			}
		}
		return fmt.Errorf("its conditions are %v", pod.Status.Conditions)
	})
}

func expectEvent(t *testing.T, ns, reason, says string) {
	t.Helper()
	harness.Eventually(t, "there is an event "+reason, func(ctx context.Context) error {
		events, err := suite.Host.CoreV1().Events(ns).List(ctx, metav1.ListOptions{FieldSelector: "reason=" + reason})
		if err != nil {
			return err
		}
		for _, event := range events.Items {
			if strings.Contains(event.Message, says) {
				return nil
			}
		}
		return fmt.Errorf("there are %d with other messages, want one with %q", len(events.Items), says)
	})
}
