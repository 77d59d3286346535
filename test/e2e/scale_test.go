//go:build e2e

// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"context"
	"fmt"
	"slices"
	"testing"

	autoscalingv1 "k8s.io/api/autoscaling/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/utils/ptr"

	v1 "statefulset.dev/api/apps/v1"
	"statefulset.dev/test/harness"
)

// TestScaleIsFoundByOthers checks that a disruption budget and an autoscaler find
// the scale of a set as they find that of a built-in one.
func TestScaleIsFoundByOthers(t *testing.T) {
	for sentence, tc := range map[string]struct {
		reserved []v1.OrdinalRange
		members  []string
	}{
		"a set whose members are in a row":    {nil, []string{"db-0", "db-1", "db-2", "db-3"}},
		"a set with a hole among its members": {[]v1.OrdinalRange{{First: 1}}, []string{"db-0", "db-2", "db-3", "db-4"}},
	} {
		t.Run(sentence, func(t *testing.T) {
			t.Parallel()
			set := newSet("db", 3)
			if tc.reserved != nil {
				set.Spec.Ordinals = &v1.StatefulSetOrdinals{Reserved: tc.reserved}
			}
			scaledByOthers(t, set, tc.members)
		})
	}
}

// scaledByOthers has a set of three members scaled to four, which are to be the given ones.
func scaledByOthers(t *testing.T, set *v1.StatefulSet, members []string) {
	t.Helper()
	ns := namespace(t)
	set = create(t, ns, set)
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

	scaler := &autoscalingv2.HorizontalPodAutoscaler{
		ObjectMeta: metav1.ObjectMeta{Name: "db"}, Spec: autoscalingv2.HorizontalPodAutoscalerSpec{
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
	pods, err := suite.Host.CoreV1().Pods(ns).List(t.Context(), metav1.ListOptions{LabelSelector: scale.Status.Selector})
	if err != nil {
		t.Fatalf("listing what the scale selects: %v", err)
	}
	var got []string
	for _, pod := range pods.Items {
		got = append(got, pod.Name)
	}
	if !slices.Equal(got, members) {
		t.Errorf("the scale selects %v, want %v", got, members)
	}
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
