// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"errors"
	"testing"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
	clocktesting "k8s.io/utils/clock/testing"

	setsfake "statefulset.dev/client/clientset/versioned/fake"
)

func TestALeaseHoldsForItsDurationAndNoLonger(t *testing.T) {
	clock := clocktesting.NewFakeClock(time.Now())
	host := fake.NewClientset()
	options := NewOptions()
	c, err := New(Config{Options: options, Host: host, Sets: setsfake.NewSimpleClientset(), Identity: "one", Clock: clock})
	if err != nil {
		t.Fatalf("building controller: %v", err)
	}
	lease := c.newLease()
	wantHeld := func(when string, want bool) {
		t.Helper()
		if err := lease.check(); (err == nil) != want {
			t.Errorf("%s: got %v, want held %v", when, err, want)
		}
	}
	ours := resourcelock.LeaderElectionRecord{HolderIdentity: "one", LeaseDurationSeconds: 10}

	wantHeld("before it is taken", false)
	if err := lease.Create(t.Context(), ours); err != nil {
		t.Fatalf("taking lease: %v", err)
	}
	wantHeld("when it is taken", true)
	clock.Step(options.LeaseDuration - time.Nanosecond)
	wantHeld("just before it runs out", true)
	clock.Step(time.Nanosecond)
	wantHeld("when the process slept until it ran out", false)

	if err := lease.Update(t.Context(), ours); err != nil {
		t.Fatalf("renewing lease: %v", err)
	}
	wantHeld("when it is renewed", true)
	host.PrependReactor("update", "leases", func(clienttesting.Action) (bool, runtime.Object, error) {
		return true, nil, errors.New("no way to the host")
	})
	clock.Step(options.RenewDeadline)
	_ = lease.Update(t.Context(), ours)
	wantHeld("when it could not be renewed and has not run out", true)
	_ = lease.Update(t.Context(), resourcelock.LeaderElectionRecord{})
	wantHeld("when giving it back failed", false)
}

// holder is who holds the lease, empty if nobody does.
func holder(t *testing.T, host *fake.Clientset) string {
	t.Helper()
	options := NewOptions()
	lease, err := host.CoordinationV1().Leases(options.LeaseNamespace).Get(t.Context(), options.LeaseName, metav1.GetOptions{})
	if err != nil {
		t.Fatalf("reading lease: %v", err)
	}
	return holderOf(lease)
}

func holderOf(object any) string {
	if lease, ok := object.(*coordinationv1.Lease); ok && lease.Spec.HolderIdentity != nil {
		return *lease.Spec.HolderIdentity
	}
	return ""
}
