// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package harness

import (
	"context"
	"errors"
	"fmt"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "statefulset.dev/api/apps/v1"
)

// Members are the pods and claims of a set at the time when they were complete.
type Members struct {
	Namespace string
	Set       *v1.StatefulSet
	// UIDs are the UIDs of the pods and claims, by kind and name, such as "pod web-0".
	UIDs map[string]string

	cluster *Cluster
}

// Settle creates a parallel set whose claims are deleted with it, and waits until its members are
// complete and it owns their claims.
func (c *Cluster) Settle(t testing.TB, namespace, name string, replicas int32) *Members {
	t.Helper()
	set := WithClaim(NewSet(name, replicas))
	set.Spec.PodManagementPolicy = v1.ParallelPodManagement
	set.Spec.PersistentVolumeClaimRetentionPolicy = &v1.StatefulSetPersistentVolumeClaimRetentionPolicy{
		WhenDeleted: v1.DeletePersistentVolumeClaimRetentionPolicyType,
	}
	created, err := c.Sets.AppsV1().StatefulSets(namespace).Create(t.Context(), set, metav1.CreateOptions{})
	if err != nil {
		t.Fatalf("creating set %s: %v", name, err)
	}
	m := &Members{cluster: c, Namespace: namespace, Set: created}
	m.AwaitReady(t)
	Eventually(t, "the claims belong to set "+name, func(ctx context.Context) error {
		claims, err := m.claims(ctx)
		for i := range claims {
			if len(claims[i].OwnerReferences) != 1 {
				return fmt.Errorf("claim %s has owners %v", claims[i].Name, claims[i].OwnerReferences)
			}
		}
		return err
	})
	if m.UIDs, err = m.Present(t.Context()); err != nil || len(m.UIDs) != int(2*replicas) {
		t.Fatalf("members of %s: got %v, error %v, want %d pods and as many claims", name, m.UIDs, err, replicas)
	}
	return m
}

// AwaitReady waits until the set is ready in its current generation.
func (m *Members) AwaitReady(t testing.TB) {
	t.Helper()
	Eventually(t, "set "+m.Set.Name+" is ready", func(ctx context.Context) error {
		set, err := m.cluster.Sets.AppsV1().StatefulSets(m.Namespace).Get(ctx, m.Set.Name, metav1.GetOptions{})
		if err != nil {
			return err
		}
		for _, c := range set.Status.Conditions {
			if c.Type == v1.StatefulSetReady && c.Status == corev1.ConditionTrue && set.Status.ObservedGeneration == set.Generation &&
				set.Status.ReadyReplicas == *set.Spec.Replicas {
				return nil
			}
		}
		return fmt.Errorf("generation %d, status %+v", set.Generation, set.Status)
	})
}

// Present returns the UIDs of the existing pods and claims that are not terminating.
func (m *Members) Present(ctx context.Context) (map[string]string, error) {
	uids := map[string]string{}
	pods, err := m.cluster.Host.CoreV1().Pods(m.Namespace).List(ctx, m.selected())
	if err != nil {
		return nil, fmt.Errorf("listing pods: %w", err)
	}
	for i := range pods.Items {
		if pods.Items[i].DeletionTimestamp == nil {
			uids["pod "+pods.Items[i].Name] = string(pods.Items[i].UID)
		}
	}
	claims, err := m.claims(ctx)
	for i := range claims {
		if claims[i].DeletionTimestamp == nil {
			uids["claim "+claims[i].Name] = string(claims[i].UID)
		}
	}
	return uids, err
}

func (m *Members) claims(ctx context.Context) ([]corev1.PersistentVolumeClaim, error) {
	claims, err := m.cluster.Host.CoreV1().PersistentVolumeClaims(m.Namespace).List(ctx, m.selected())
	if err != nil {
		return nil, fmt.Errorf("listing claims: %w", err)
	}
	return claims.Items, nil
}

func (m *Members) selected() metav1.ListOptions {
	return metav1.ListOptions{LabelSelector: "app=" + m.Set.Name}
}

// Bait creates an object next to the members whose owner does not exist; see Cluster.Bait.
func (m *Members) Bait(t testing.TB) (taken func(ctx context.Context) bool) {
	t.Helper()
	return m.cluster.Bait(t, m.Namespace)
}

// Bait creates an object in a namespace whose owner does not exist, and returns a function that
// reports whether the garbage collector has deleted it. By then, the garbage collector is active,
// and has had time to check the other objects too.
func (c *Cluster) Bait(t testing.TB, namespace string) (taken func(ctx context.Context) bool) {
	t.Helper()
	baits := c.Host.CoreV1().ConfigMaps(namespace)
	bait, err := baits.Create(t.Context(), &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{
		GenerateName: "bait-",
		OwnerReferences: []metav1.OwnerReference{
			{APIVersion: "v1", Kind: "ConfigMap", Name: "nobody", UID: "00000000-0000-0000-0000-000000000000"}},
	}}, metav1.CreateOptions{})
	if err != nil {
		t.Fatalf("creating an object whose owner does not exist: %v", err)
	}
	return func(ctx context.Context) bool {
		_, err := baits.Get(ctx, bait.Name, metav1.GetOptions{})
		return apierrors.IsNotFound(err)
	}
}

// AwaitCollector waits until the garbage collector has deleted the object of a Bait.
func (c *Cluster) AwaitCollector(t testing.TB, namespace string) {
	t.Helper()
	taken := c.Bait(t, namespace)
	Eventually(t, "the garbage collector is active", func(ctx context.Context) error {
		if !taken(ctx) {
			return errors.New("an object whose owner does not exist is still there")
		}
		return nil
	})
}
