// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"errors"
	"strings"
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

// machine is a clock of which the time of day can go on, or be set, while the machine
// does not run.
type machine struct {
	clocktesting.FakeClock
	day time.Duration
}

func newMachine() *machine { return &machine{FakeClock: *clocktesting.NewFakeClock(time.Now())} }

func (m *machine) Now() time.Time { return m.FakeClock.Now().Add(m.day) }

// Since is what the clock says that cannot be set: what was told of the time of day
// while the machine ran is taken off again.
func (m *machine) Since(from time.Time) time.Duration { return m.FakeClock.Now().Sub(from) }

func TestALeaseIsHeldOnlyIfTheTimeOfDaySaysSoToo(t *testing.T) {
	options := NewOptions()
	cases := map[string]struct {
		runs, day time.Duration
		want      bool
	}{
		"the machine ran, and the clock was right":                          {options.LeaseDuration / 2, 0, true},
		"the machine ran for longer than the lease":                         {options.LeaseDuration, 0, false},
		"the machine was suspended for longer than the lease":               {time.Second, time.Hour, false},
		"the machine was suspended until just before the end":               {0, options.LeaseDuration - 1, true},
		"the machine was suspended until the end":                           {0, options.LeaseDuration, false},
		"the clock was set back a little":                                   {3 * time.Second, -2 * time.Second, true},
		"the clock was set back to before the lease was renewed":            {3 * time.Second, -time.Hour, false},
		"the clock was set back, and the machine ran longer than its lease": {options.LeaseDuration, -2 * time.Second, false},
	}
	for sentence, test := range cases {
		t.Run(sentence, func(t *testing.T) {
			clock := newMachine()
			host := fake.NewClientset()
			lock := &resourcelock.LeaseLock{
				LeaseMeta: metav1.ObjectMeta{Namespace: "x", Name: "y"}, Client: host.CoordinationV1(),
				LockConfig: resourcelock.ResourceLockConfig{Identity: "one"},
			}
			lease := newLease(lock, options, clock)
			ours := resourcelock.LeaderElectionRecord{HolderIdentity: "one", LeaseDurationSeconds: 10}
			if err := lease.Create(t.Context(), ours); err != nil {
				t.Fatalf("taking lease: %v", err)
			}
			clock.Step(test.runs)
			clock.day = test.day
			if err := lease.check(); (err == nil) != test.want {
				t.Errorf("got %v, want held %v", err, test.want)
			}
		})
	}
}

func TestALeaseIsGivenBackOnlyByWhoHoldsIt(t *testing.T) {
	host := fake.NewClientset()
	leaseOf := func(identity string) *lease {
		c, err := New(Config{Options: NewOptions(), Host: host, Sets: setsfake.NewSimpleClientset(), Identity: identity,
			Clock: clocktesting.NewFakeClock(time.Now())})
		if err != nil {
			t.Fatalf("building controller: %v", err)
		}
		return c.newLease()
	}
	frozen, successor := leaseOf("one"), leaseOf("two")
	record := func(identity string) resourcelock.LeaderElectionRecord {
		return resourcelock.LeaderElectionRecord{HolderIdentity: identity, LeaseDurationSeconds: 10}
	}
	if err := frozen.Create(t.Context(), record("one")); err != nil {
		t.Fatalf("taking lease: %v", err)
	}
	if _, _, err := successor.Get(t.Context()); err != nil {
		t.Fatalf("reading lease: %v", err)
	}
	if err := successor.Update(t.Context(), record("two")); err != nil {
		t.Fatalf("taking it over: %v", err)
	}

	// An elector that wakes up reads the lease, whose version it then has, before it gives it back.
	if _, _, err := frozen.Get(t.Context()); err != nil {
		t.Fatalf("reading lease: %v", err)
	}
	if err := frozen.Update(t.Context(), record("")); err == nil || !strings.Contains(err.Error(), `held by "two"`) {
		t.Errorf("giving back what another holds: got %v, want an error that names two", err)
	}
	if got := holder(t, host); got != "two" {
		t.Errorf("the lease is held by %q, want two", got)
	}
	if err := successor.check(); err != nil {
		t.Errorf("the successor: got %v, want that it holds its lease", err)
	}
	if err := successor.Update(t.Context(), record("")); err != nil {
		t.Errorf("giving back what is held: got %v, want none", err)
	}
	if got := holder(t, host); got != "" {
		t.Errorf("the lease that was given back is held by %q, want nobody", got)
	}
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
