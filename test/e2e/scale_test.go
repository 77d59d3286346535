//go:build e2e

// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"context"
	"fmt"
	"testing"

	autoscalingv1 "k8s.io/api/autoscaling/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/utils/ptr"

	"statefulset.dev/test/harness"
)

// TestScaleIsFoundByOthers checks that a disruption budget and an autoscaler find
// the scale of a set as they find that of a built-in one.
func TestScaleIsFoundByOthers(t *testing.T) {
	t.Parallel()
	ns := namespace(t)
	set := create(t, ns, newSet("db", 3))
	waitReady(t, ns, "db", 3)

	scale, err := suite.Sets.AppsV1().StatefulSets(ns).GetScale(t.Context(), "db", metav1.GetOptions{})
	if err != nil {
		t.Fatalf("getting the scale: %v", err)
	}
	if scale.UID != set.UID || scale.Spec.Replicas != 3 || scale.Status.Replicas != 3 || scale.Status.Selector != "app=db" {
		t.Errorf("scale is %+v, want UID %s, 3 of 3 replicas and the selector app=db", scale, set.UID)
	}

	budget := &policyv1.PodDisruptionBudget{ObjectMeta: metav1.ObjectMeta{Name: "db"}, Spec: policyv1.PodDisruptionBudgetSpec{
		Selector: set.Spec.Selector, MaxUnavailable: new(intstr.FromString("34%")),
	}}
	if _, err := suite.Host.PolicyV1().PodDisruptionBudgets(ns).Create(t.Context(), budget, metav1.CreateOptions{}); err != nil {
		t.Fatalf("creating a disruption budget: %v", err)
	}
	harness.Eventually(t, "the disruption budget counts the members", func(ctx context.Context) error {
		got, err := suite.Host.PolicyV1().PodDisruptionBudgets(ns).Get(ctx, "db", metav1.GetOptions{})
		if err == nil && (got.Status.ExpectedPods != 3 || got.Status.DisruptionsAllowed != 2) {
			err = fmt.Errorf("its status is %+v", got.Status)
		}
		return err
	})

	scaler := &autoscalingv2.HorizontalPodAutoscaler{ObjectMeta: metav1.ObjectMeta{Name: "db"}, Spec: autoscalingv2.HorizontalPodAutoscalerSpec{
		ScaleTargetRef: autoscalingv2.CrossVersionObjectReference{APIVersion: "apps.statefulset.dev/v1", Kind: "StatefulSet", Name: "db"},
		MinReplicas:    ptr.To[int32](4), MaxReplicas: 5,
	}}
	if _, err := suite.Host.AutoscalingV2().HorizontalPodAutoscalers(ns).Create(t.Context(), scaler, metav1.CreateOptions{}); err != nil {
		t.Fatalf("creating an autoscaler: %v", err)
	}
	harness.Eventually(t, "the autoscaler has scaled the set to its minimum", func(ctx context.Context) error {
		got, err := suite.Host.AutoscalingV2().HorizontalPodAutoscalers(ns).Get(ctx, "db", metav1.GetOptions{})
		if err != nil {
			return err
		}
		for _, c := range got.Status.Conditions {
			if c.Type == autoscalingv2.AbleToScale && c.Status == corev1.ConditionTrue && got.Status.DesiredReplicas == 4 {
				return nil
			}
		}
		return fmt.Errorf("its status is %+v", got.Status)
	})
	waitReady(t, ns, "db", 4)
}

// TestStaleScale checks that a scale read before another change does not undo it.
func TestStaleScale(t *testing.T) {
	t.Parallel()
	ns := namespace(t)
	create(t, ns, newSet("db", 0))
	waitReady(t, ns, "db", 0)
	sets := suite.Sets.AppsV1().StatefulSets(ns)
	stale, err := sets.GetScale(t.Context(), "db", metav1.GetOptions{})
	if err != nil {
		t.Fatalf("getting the scale: %v", err)
	}
	if _, err := sets.UpdateScale(t.Context(), "db", scaled(stale, 1), metav1.UpdateOptions{}); err != nil {
		t.Fatalf("scaling to 1: %v", err)
	}
	if _, err := sets.UpdateScale(t.Context(), "db", scaled(stale, 2), metav1.UpdateOptions{}); err == nil {
		t.Error("scaling with the resource version of before the first change was accepted, want a conflict")
	}
}

func scaled(scale *autoscalingv1.Scale, replicas int32) *autoscalingv1.Scale {
	scale = scale.DeepCopy()
	scale.Spec.Replicas = replicas
	return scale
}
