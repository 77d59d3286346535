// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

// Package warmup waits until a cluster has taken notice of our group. The server
// can be used as soon as it is registered, but the cluster's own controllers learn
// of new groups every half minute only: until then nobody collects the garbage of a
// deleted set, counts sets against a quota, or finds their scale.
package warmup

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
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	v1 "statefulset.dev/api/apps/v1"
	"statefulset.dev/client/clientset/versioned"
)

const (
	interval = 2 * time.Second
	patience = 2 * time.Minute
	name     = "warm-up"
)

// Wait returns when the quota controller and the garbage collector of the cluster
// know our sets. It works in a namespace of its own, which it removes.
func Wait(ctx context.Context, config *rest.Config) error {
	host, err := kubernetes.NewForConfig(config)
	if err != nil {
		return fmt.Errorf("creating the host client: %w", err)
	}
	sets, err := versioned.NewForConfig(config)
	if err != nil {
		return fmt.Errorf("creating the client of our group: %w", err)
	}
	ns, err := host.CoreV1().Namespaces().Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: name + "-"}}, metav1.CreateOptions{})
	if err != nil {
		return fmt.Errorf("creating a namespace: %w", err)
	}
	defer func() {
		_ = host.CoreV1().Namespaces().Delete(context.WithoutCancel(ctx), ns.Name, metav1.DeleteOptions{})
	}()

	if err := counted(ctx, host, sets, ns.Name); err != nil {
		return err
	}
	return collected(ctx, sets, ns.Name)
}

// counted waits until a set can be created under a quota. A quota that is older than
// the quota controller's knowledge of our group is not looked at again for minutes,
// so each attempt is made with a new one.
func counted(ctx context.Context, host kubernetes.Interface, sets versioned.Interface, ns string) error {
	quotas := host.CoreV1().ResourceQuotas(ns)
	if _, err := quotas.Create(ctx, limit(), metav1.CreateOptions{}); err != nil {
		return fmt.Errorf("creating a quota: %w", err)
	}
	var refusal error
	err := wait.PollUntilContextTimeout(ctx, interval, patience, true, func(ctx context.Context) (bool, error) {
		_, err := sets.AppsV1().StatefulSets(ns).Create(ctx, smallest(), metav1.CreateOptions{})
		if err == nil {
			return true, nil
		}
		if ctx.Err() == nil {
			refusal = err
		}
		if err := quotas.DeleteCollection(ctx, metav1.DeleteOptions{}, metav1.ListOptions{}); err != nil {
			return false, err
		}
		_, err = quotas.Create(ctx, limit(), metav1.CreateOptions{})
		return false, err
	})
	if err != nil {
		return fmt.Errorf("waiting until the quota controller counts sets: %w", errors.Join(err, refusal))
	}
	return nil
}

// collected waits until the set can be deleted with its members left alone.
func collected(ctx context.Context, sets versioned.Interface, ns string) error {
	ours := sets.AppsV1().StatefulSets(ns)
	orphan := metav1.DeletePropagationOrphan
	if err := ours.Delete(ctx, name, metav1.DeleteOptions{PropagationPolicy: &orphan}); err != nil {
		return fmt.Errorf("deleting the set: %w", err)
	}
	err := wait.PollUntilContextTimeout(ctx, interval, patience, true, func(ctx context.Context) (bool, error) {
		_, err := ours.Get(ctx, name, metav1.GetOptions{})
		return apierrors.IsNotFound(err), nil
	})
	if err != nil {
		return fmt.Errorf("waiting until the garbage collector has released the set: %w", err)
	}
	return nil
}

func limit() *corev1.ResourceQuota {
	return &corev1.ResourceQuota{
		ObjectMeta: metav1.ObjectMeta{GenerateName: name + "-"},
		Spec:       corev1.ResourceQuotaSpec{Hard: corev1.ResourceList{"count/statefulsets.apps.statefulset.dev": resource.MustParse("1")}},
	}
}

func smallest() *v1.StatefulSet {
	labels := map[string]string{"app": name}
	return &v1.StatefulSet{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec: v1.StatefulSetSpec{
			Replicas: new(int32),
			Selector: &metav1.LabelSelector{MatchLabels: labels},
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: labels},
				Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "main", Image: "example.test/main:1"}}},
			},
		},
	}
}
