//go:build nodes

// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package nodes

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"testing"

	autoscalingv2 "k8s.io/api/autoscaling/v2"
	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"

	v1 "statefulset.dev/api/apps/v1"
	"statefulset.dev/test/harness"
)

// withHole has member 1 missing.
func withHole(made *v1.StatefulSet) {
	made.Spec.Ordinals = &v1.StatefulSetOrdinals{Reserved: []v1.OrdinalRange{{First: 1}}}
}

// TestAnAutoscalerCountsMembersAndNotOrdinals: the bounds of an autoscaler are kept without
// metrics, which these nodes do not have.
func TestAnAutoscalerCountsMembersAndNotOrdinals(t *testing.T) {
	k := kinds()[0]
	passed := t.Run(k.name, func(t *testing.T) {
		s := newSet(t, k, 3, withHole)
		before := s.expectMembers(t, "web-0", "web-2", "web-3")
		_, err := cluster.Host.AutoscalingV2().HorizontalPodAutoscalers(s.ns).Create(t.Context(), &autoscalingv2.HorizontalPodAutoscaler{
			ObjectMeta: metav1.ObjectMeta{Name: name},
			Spec: autoscalingv2.HorizontalPodAutoscalerSpec{
				ScaleTargetRef: autoscalingv2.CrossVersionObjectReference{APIVersion: k.gvr.GroupVersion().String(), Kind: v1.Kind, Name: name},
				MinReplicas:    new(int32(4)), MaxReplicas: 5,
			},
		}, metav1.CreateOptions{})
		if err != nil {
			t.Fatalf("creating an autoscaler: %v", err)
		}
		s.awaitReady(t, 4)
		s.awaitScaler(t, 4)
		after := s.expectMembers(t, "web-0", "web-2", "web-3", "web-4")
		expectSame(t, before, after, "web-0", "web-2", "web-3")

		// Who is removed by hand does not come back: there is another one in its place.
		if output, err := plugin(t.Context(), "scale", "statefulset/"+name, "--remove=web-2", "-n", s.ns).CombinedOutput(); err != nil {
			t.Fatalf("removing web-2: %v\n%s", err, output)
		}
		s.awaitMembers(t, "web-0", "web-3", "web-4", "web-5")
		s.awaitReady(t, 4)
		before, after = after, s.expectMembers(t, "web-0", "web-3", "web-4", "web-5")
		expectSame(t, before, after, "web-0", "web-3", "web-4")

		if _, err := cluster.Host.AutoscalingV2().HorizontalPodAutoscalers(s.ns).Patch(t.Context(), name, types.MergePatchType,
			[]byte(`{"spec":{"minReplicas":1,"maxReplicas":2}}`), metav1.PatchOptions{}); err != nil {
			t.Fatalf("lowering the bounds: %v", err)
		}
		s.awaitMembers(t, "web-0", "web-3")
		s.awaitReady(t, 2)
		s.awaitScaler(t, 2)
		before, after = after, s.expectMembers(t, "web-0", "web-3")
		expectSame(t, before, after, "web-0", "web-3")
	})
	results = append(results, result{"an autoscaler adds and removes members of a set with reserved ordinals", k.name, !passed})
}

// TestABudgetCountsMembersAndNotOrdinals: a percentage is one of what the scale of the set
// tells, and a number one of its pods.
func TestABudgetCountsMembersAndNotOrdinals(t *testing.T) {
	k := kinds()[0]
	passed := t.Run(k.name, func(t *testing.T) {
		s := newSet(t, k, 4, withHole)
		for _, tc := range []struct {
			sentence string
			spec     policyv1.PodDisruptionBudgetSpec
			allowed  int32
		}{
			{"half of the members may be away", policyv1.PodDisruptionBudgetSpec{MaxUnavailable: new(intstr.FromString("50%"))}, 2},
			{"three quarters of the members must be there", policyv1.PodDisruptionBudgetSpec{MinAvailable: new(intstr.FromString("75%"))}, 1},
			{"two members must be there", policyv1.PodDisruptionBudgetSpec{MinAvailable: new(intstr.FromInt32(2))}, 2},
			{"one member may be away", policyv1.PodDisruptionBudgetSpec{MaxUnavailable: new(intstr.FromInt32(1))}, 1},
		} {
			t.Run(tc.sentence, func(t *testing.T) { s.tryBudget(t, tc.spec, tc.allowed) })
		}
	})
	results = append(results,
		result{"a budget in numbers and percentages counts the members of a set with reserved ordinals", k.name, !passed})
}

// tryBudget gives the set, which has web-0, web-2, web-3 and web-4, a budget, and evicts as
// many members as that allows, and one more.
func (s *set) tryBudget(t *testing.T, spec policyv1.PodDisruptionBudgetSpec, allowed int32) {
	spec.Selector = &metav1.LabelSelector{MatchLabels: map[string]string{"app": name}}
	budgets := cluster.Host.PolicyV1().PodDisruptionBudgets(s.ns)
	if _, err := budgets.Create(t.Context(), &policyv1.PodDisruptionBudget{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: spec},
		metav1.CreateOptions{}); err != nil {
		t.Fatalf("creating a budget: %v", err)
	}
	t.Cleanup(func() {
		if err := budgets.Delete(context.WithoutCancel(t.Context()), name, metav1.DeleteOptions{}); err != nil {
			t.Errorf("deleting the budget: %v", err)
		}
	})
	harness.Eventually(t, "the budget has counted the members", func(ctx context.Context) error {
		got, err := budgets.Get(ctx, name, metav1.GetOptions{})
		if err != nil {
			return err
		}
		if status := got.Status; status.ObservedGeneration != got.Generation || status.ExpectedPods != 4 || status.CurrentHealthy != 4 ||
			status.DisruptionsAllowed != allowed {
			return fmt.Errorf("it expects %d members, of which %d are healthy, and allows %d disruptions, want 4, 4 and %d",
				status.ExpectedPods, status.CurrentHealthy, status.DisruptionsAllowed, allowed)
		}
		return nil
	})
	before := s.members(t)
	members := slices.Sorted(maps.Keys(before))
	for _, member := range members[:allowed] {
		if err := s.evict(t, member); err != nil {
			t.Fatalf("evicting %s: got %v, want it allowed", member, err)
		}
	}
	if err := s.evict(t, members[allowed]); !apierrors.IsTooManyRequests(err) {
		t.Errorf("evicting %s, one more than the budget allows: got %v, want it refused with 429", members[allowed], err)
	}
	harness.Eventually(t, "the evicted members are back", func(context.Context) error {
		now := s.members(t)
		for _, member := range members[:allowed] {
			if now[member] == "" || now[member] == before[member] {
				return fmt.Errorf("the members are %v, want another %s than that with UID %s", now, member, before[member])
			}
		}
		return nil
	})
	s.awaitReady(t, 4)
	expectSame(t, before, s.expectMembers(t, "web-0", "web-2", "web-3", "web-4"), members[allowed:]...)
}

func (s *set) evict(t *testing.T, member string) error {
	t.Helper()
	return cluster.Host.PolicyV1().Evictions(s.ns).Evict(t.Context(),
		&policyv1.Eviction{ObjectMeta: metav1.ObjectMeta{Name: member, Namespace: s.ns}})
}

// awaitScaler waits until the autoscaler has seen as many members as it wants.
func (s *set) awaitScaler(t *testing.T, want int32) {
	t.Helper()
	harness.Eventually(t, fmt.Sprintf("the autoscaler sees %d members", want), func(ctx context.Context) error {
		got, err := cluster.Host.AutoscalingV2().HorizontalPodAutoscalers(s.ns).Get(ctx, name, metav1.GetOptions{})
		if err == nil && (got.Status.CurrentReplicas != want || got.Status.DesiredReplicas != want) {
			err = fmt.Errorf("it sees %d and wants %d: %v", got.Status.CurrentReplicas, got.Status.DesiredReplicas, got.Status.Conditions)
		}
		return err
	})
}

// members are the UIDs of the pods of the set, by their names.
func (s *set) members(t *testing.T) map[string]types.UID {
	t.Helper()
	pods, err := cluster.Host.CoreV1().Pods(s.ns).List(t.Context(), metav1.ListOptions{LabelSelector: "app=" + name})
	if err != nil {
		t.Fatalf("listing the members: %v", err)
	}
	uids := map[string]types.UID{}
	for _, pod := range pods.Items {
		uids[pod.Name] = pod.UID
	}
	return uids
}

func (s *set) awaitMembers(t *testing.T, want ...string) {
	t.Helper()
	harness.Eventually(t, fmt.Sprintf("the members are %v", want), func(context.Context) error {
		if got := slices.Sorted(maps.Keys(s.members(t))); !slices.Equal(got, want) {
			return fmt.Errorf("they are %v", got)
		}
		return nil
	})
}

func (s *set) expectMembers(t *testing.T, want ...string) map[string]types.UID {
	t.Helper()
	uids := s.members(t)
	if got := slices.Sorted(maps.Keys(uids)); !slices.Equal(got, want) {
		t.Errorf("the members are %v, want %v", got, want)
	}
	return uids
}

func expectSame(t *testing.T, before, after map[string]types.UID, members ...string) {
	t.Helper()
	for _, member := range members {
		if before[member] != after[member] {
			t.Errorf("%s is now the pod with UID %s, want that with %s: nobody has touched it", member, after[member], before[member])
		}
	}
}
