//go:build nodes

// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package nodes

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"

	v1 "statefulset.dev/api/apps/v1"
	"statefulset.dev/test/harness"
)

// TestAnUpdateByEvictionsRespectsABudget: the set may have two members unavailable at a time,
// and the budget has the last word.
func TestAnUpdateByEvictionsRespectsABudget(t *testing.T) {
	forOurs(t, "an update by evictions waits for a budget that allows none, and then keeps to it", func(t *testing.T, k kind) {
		s := newSet(t, k, 3, func(made *v1.StatefulSet) {
			made.Spec.PodManagementPolicy = v1.ParallelPodManagement
			made.Spec.UpdateStrategy.RollingUpdate = &v1.RollingUpdateStatefulSetStrategy{MaxUnavailable: new(intstr.FromInt32(2))}
			made.Spec.Disruption = &v1.StatefulSetDisruption{Method: v1.EvictDisruptionMethodType}
		})
		budgets := cluster.Host.PolicyV1().PodDisruptionBudgets(s.ns)
		_, err := budgets.Create(t.Context(), &policyv1.PodDisruptionBudget{
			ObjectMeta: metav1.ObjectMeta{Name: name},
			Spec: policyv1.PodDisruptionBudgetSpec{
				MaxUnavailable: new(intstr.FromInt32(0)), Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": name}}},
		}, metav1.CreateOptions{})
		if err != nil {
			t.Fatalf("creating a budget: %v", err)
		}
		harness.Eventually(t, "the budget has counted the members", func(ctx context.Context) error {
			got, err := budgets.Get(ctx, name, metav1.GetOptions{})
			if err == nil && (got.Status.ObservedGeneration != got.Generation || got.Status.CurrentHealthy != 3) {
				err = fmt.Errorf("its status is %+v", got.Status)
			}
			return err
		})
		pods := s.watchPods(t)
		s.patch(t, update)
		s.awaitReason(t, v1.ReasonDisruptionNotAllowed, "The disruption budget web needs 3 healthy pods and has 3 currently")
		pods.expect(t)
		if _, err := budgets.Patch(t.Context(), name, types.MergePatchType, []byte(`{"spec":{"maxUnavailable":1}}`),
			metav1.PatchOptions{}); err != nil {
			t.Fatalf("changing the budget: %v", err)
		}
		s.awaitReady(t, 3)
		// Who is tried again first when the budget has room, goes first.
		got := pods.await(t, 6)
		var order []string
		for i := 0; i < len(got); i += 2 {
			order = append(order, strings.TrimSuffix(got[i], " went"))
		}
		if slices.Sort(order); !slices.Equal(order, []string{"web-0", "web-1", "web-2"}) || !alternates(got) {
			t.Errorf("pods came and went in the order\n%v\nwant each of web-0, web-1 and web-2 to go once, and to come before the next goes", got)
		}
	})
}

// alternates reports whether each pod that went has come before the next one went.
func alternates(entries []string) bool {
	for i := 0; i+1 < len(entries); i += 2 {
		if !slices.Equal(entries[i:i+2], recreations(strings.TrimSuffix(entries[i], " went"))) {
			return false
		}
	}
	return len(entries)%2 == 0
}

// TestAGateIsAnsweredByASidecar: what a member has to hand over, the process beside it knows.
func TestAGateIsAnsweredByASidecar(t *testing.T) {
	forOurs(t, "a member is updated when the sidecar that its gate asks has handed over", func(t *testing.T, k kind) {
		s := newSetWithAgents(t, k, 2, handover, func(made *v1.StatefulSet) {
			made.Spec.Disruption = &v1.StatefulSetDisruption{Gates: []v1.DisruptionGate{{ConditionType: "example.com/handed-over"}}}
		})
		pods := s.watchPods(t)
		s.patch(t, update)
		for i, member := range []string{"web-1", "web-0"} {
			s.awaitReason(t, v1.ReasonWaitingForGate,
				"the update of pod "+member+" waits until example.com/handed-over is True on it with reason Request1")
			pods.expect(t, recreations([]string{"web-1", "web-0"}[:i]...)...)
			s.put(t, 1-i, "value", "handed-over")
		}
		pods.expect(t, recreations("web-1", "web-0")...)
		s.awaitReady(t, 2)
	})
}

// TestANamespaceWaitsForItsProtectedSet: the cluster ends pods without asking us, and nothing
// else ends before somebody agrees.
func TestANamespaceWaitsForItsProtectedSet(t *testing.T) {
	forOurs(t, "a namespace that is deleted waits for its protected set, and says so", func(t *testing.T, k kind) {
		s := newSet(t, k, 2, func(made *v1.StatefulSet) {
			made.Annotations = map[string]string{v1.ProtectAnnotation: "the orders of the shop"}
		})
		namespaces := cluster.Host.CoreV1().Namespaces()
		if err := namespaces.Delete(t.Context(), s.ns, metav1.DeleteOptions{}); err != nil {
			t.Fatalf("deleting the namespace: %v", err)
		}
		refusal := `set ` + s.ns + `/web is protected ("the orders of the shop"): remove annotation apps.statefulset.dev/protect first`
		harness.Eventually(t, "the namespace says what it waits for", func(ctx context.Context) error {
			got, err := namespaces.Get(ctx, s.ns, metav1.GetOptions{})
			if err != nil {
				return err
			}
			for _, c := range got.Status.Conditions {
				if c.Type == corev1.NamespaceDeletionContentFailure && c.Status == corev1.ConditionTrue && strings.Contains(c.Message, refusal) {
					return nil
				}
			}
			return fmt.Errorf("its conditions are %+v, want one that says %s", got.Status.Conditions, refusal)
		})
		found, err := cluster.Sets.AppsV1().StatefulSets(s.ns).Get(t.Context(), name, metav1.GetOptions{})
		if err != nil || found.DeletionTimestamp != nil || *found.Spec.Replicas != 2 {
			t.Errorf("then the set is %+v with error %v, want it as it was", found, err)
		}
		s.patch(t, `{"metadata":{"annotations":{"apps.statefulset.dev/protect":null}}}`)
		harness.Eventually(t, "the namespace is gone", func(ctx context.Context) error {
			got, err := namespaces.Get(ctx, s.ns, metav1.GetOptions{})
			if apierrors.IsNotFound(err) {
				return nil
			}
			return errors.Join(err, fmt.Errorf("it is there, with %+v", got.Status.Conditions))
		})
	})
}
