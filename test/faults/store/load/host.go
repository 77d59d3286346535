// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package load

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
)

// The lease of the controllers' leader election.
const (
	LeaseNamespace = "statefulset-system"
	LeaseName      = "statefulset-apiserver-controller"
)

// Idle acquires the controllers' lease for an unused identity, for a day, so that only clients
// write sets.
func Idle(ctx context.Context, host kubernetes.Interface) error {
	leases := host.CoordinationV1().Leases(LeaseNamespace)
	lease, err := leases.Get(ctx, LeaseName, metav1.GetOptions{})
	if err != nil {
		return fmt.Errorf("reading the lease: %w", err)
	}
	nobody, day, now := "nobody", int32(24*60*60), metav1.NowMicro()
	lease.Spec.HolderIdentity, lease.Spec.LeaseDurationSeconds, lease.Spec.RenewTime = &nobody, &day, &now
	if _, err := leases.Update(ctx, lease, metav1.UpdateOptions{}); err != nil {
		return fmt.Errorf("acquiring the lease: %w", err)
	}
	return nil
}

// Resume releases the lease.
func Resume(ctx context.Context, host kubernetes.Interface) error {
	if err := host.CoordinationV1().Leases(LeaseNamespace).Delete(ctx, LeaseName, metav1.DeleteOptions{}); err != nil {
		return fmt.Errorf("releasing the lease: %w", err)
	}
	return nil
}

// NewNamespace creates a namespace and returns its name.
func NewNamespace(ctx context.Context, host kubernetes.Interface) (string, error) {
	ns, err := host.CoreV1().Namespaces().Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "load-"}},
		metav1.CreateOptions{})
	if err != nil {
		return "", fmt.Errorf("creating a namespace: %w", err)
	}
	return ns.Name, nil
}
