// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package harness

import (
	"context"
	"errors"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
)

const (
	warmUpInterval = 2 * time.Second
	warmUpName     = "warm-up"
)

// WarmUp waits until the quota controller and the garbage collector of the cluster know our sets.
// The server can be used as soon as it is registered, but the cluster's own controllers discover
// new groups only every half minute. Until then, no controller collects the garbage of a deleted
// set, counts sets against a quota, or finds their scale. WarmUp works in a separate namespace,
// which it deletes.
func (c *Cluster) WarmUp(ctx context.Context) error {
	ns, err := c.Host.CoreV1().Namespaces().Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: warmUpName + "-"}},
		metav1.CreateOptions{})
	if err != nil {
		return fmt.Errorf("creating a namespace: %w", err)
	}
	defer func() {
		_ = c.Host.CoreV1().Namespaces().Delete(context.WithoutCancel(ctx), ns.Name, metav1.DeleteOptions{})
	}()

	if err := c.counted(ctx, ns.Name); err != nil {
		return err
	}
	return c.collected(ctx, ns.Name)
}

// counted waits until a set can be created under a quota. The quota controller does not check a
// quota that is older than its knowledge of our group again for minutes, so each attempt uses a new
// one.
func (c *Cluster) counted(ctx context.Context, ns string) error {
	quotas := c.Host.CoreV1().ResourceQuotas(ns)
	if _, err := quotas.Create(ctx, oneSet(), metav1.CreateOptions{}); err != nil {
		return fmt.Errorf("creating a quota: %w", err)
	}
	var refusal error
	err := wait.PollUntilContextTimeout(ctx, warmUpInterval, Patience, true, func(ctx context.Context) (bool, error) {
		_, err := c.Sets.AppsV1().StatefulSets(ns).Create(ctx, NewSet(warmUpName, 0), metav1.CreateOptions{})
		if err == nil {
			return true, nil
		}
		if ctx.Err() == nil {
			refusal = err
		}
		if err := quotas.DeleteCollection(ctx, metav1.DeleteOptions{}, metav1.ListOptions{}); err != nil {
			return false, err
		}
		_, err = quotas.Create(ctx, oneSet(), metav1.CreateOptions{})
		return false, err
	})
	if err != nil {
		return fmt.Errorf("waiting until the quota controller counts sets: %w", errors.Join(err, refusal))
	}
	return nil
}

// collected waits until the set can be deleted with orphaned members.
func (c *Cluster) collected(ctx context.Context, ns string) error {
	ours := c.Sets.AppsV1().StatefulSets(ns)
	orphan := metav1.DeletePropagationOrphan
	if err := ours.Delete(ctx, warmUpName, metav1.DeleteOptions{PropagationPolicy: &orphan}); err != nil {
		return fmt.Errorf("deleting the set: %w", err)
	}
	err := wait.PollUntilContextTimeout(ctx, warmUpInterval, Patience, true, func(ctx context.Context) (bool, error) {
		_, err := ours.Get(ctx, warmUpName, metav1.GetOptions{})
		return apierrors.IsNotFound(err), nil
	})
	if err != nil {
		return fmt.Errorf("waiting until the garbage collector has released the set: %w", err)
	}
	return nil
}

// oneSet returns a quota that allows one set.
func oneSet() *corev1.ResourceQuota {
	return &corev1.ResourceQuota{
		ObjectMeta: metav1.ObjectMeta{GenerateName: warmUpName + "-"},
		Spec:       corev1.ResourceQuotaSpec{Hard: corev1.ResourceList{"count/statefulsets.apps.statefulset.dev": resource.MustParse("1")}},
	}
}
