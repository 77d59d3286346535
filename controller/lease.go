// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"
	"fmt"
	"sync/atomic"
	"time"

	"k8s.io/client-go/tools/leaderelection/resourcelock"
	"k8s.io/utils/clock"
)

// lease is a lock that remembers until when this replica certainly holds it. Leader election
// reports by a timer that leadership is lost. A process that was stopped may resume and write
// before that timer fires. So every write compares the clocks with the lease.
//
// There are two clocks. One counts while the machine runs and cannot be set, but it stops while the
// machine is suspended. The other is the time of day, which goes on, and may be set. The lease is
// held if both say so. If the time of day is before the lease was acquired, it proves nothing. The
// lease then counts as not held until it is renewed.
type lease struct {
	resourcelock.Interface

	clock    clock.PassiveClock
	timeout  time.Duration
	duration time.Duration
	// since holds a time.Time: when the last successful write of the lease began, or zero if this
	// replica does not hold the lease.
	since atomic.Value
	// holder is the holder in the lease when the elector last read or wrote it.
	holder string
}

func newLease(lock resourcelock.Interface, options Options, clock clock.PassiveClock) *lease {
	l := &lease{Interface: lock, clock: clock, timeout: options.RenewDeadline / 2, duration: options.LeaseDuration}
	l.since.Store(time.Time{})
	return l
}

// Get reads the lease from the host cluster.
func (l *lease) Get(ctx context.Context) (*resourcelock.LeaderElectionRecord, []byte, error) {
	ctx, cancel := context.WithTimeout(ctx, l.timeout)
	defer cancel()
	record, raw, err := l.Interface.Get(ctx)
	if err == nil {
		l.holder = record.HolderIdentity
	}
	return record, raw, err
}

// Create acquires a lease that does not exist yet.
func (l *lease) Create(ctx context.Context, record resourcelock.LeaderElectionRecord) error {
	return l.write(ctx, record, l.Interface.Create)
}

// Update acquires, renews or releases the lease.
func (l *lease) Update(ctx context.Context, record resourcelock.LeaderElectionRecord) error {
	return l.write(ctx, record, l.Interface.Update)
}

func (l *lease) write(ctx context.Context, record resourcelock.LeaderElectionRecord,
	write func(context.Context, resourcelock.LeaderElectionRecord) error,
) error {
	ctx, cancel := context.WithTimeout(ctx, l.timeout)
	defer cancel()
	// Other replicas count from when they see the write, which is later than now.
	began := l.clock.Now()
	if record.HolderIdentity != l.Identity() {
		l.since.Store(time.Time{})
		if l.holder != l.Identity() {
			return fmt.Errorf("the lease %s is now held by %q, so this replica must not release it", l.Describe(), l.holder)
		}
	}
	if err := write(ctx, record); err != nil {
		return err
	}
	l.holder = record.HolderIdentity
	if record.HolderIdentity == l.Identity() {
		l.since.Store(began)
	}
	return nil
}

// check returns an error if another replica may hold the lease by now.
func (l *lease) check() error {
	since, _ := l.since.Load().(time.Time)
	if since.IsZero() {
		return fmt.Errorf("the lease %s is not held", l.Describe())
	}
	awake, passed := l.clock.Since(since), l.clock.Now().Round(0).Sub(since.Round(0))
	if max(awake, passed) >= l.duration || passed < 0 {
		return fmt.Errorf("the lease %s is no longer held: since it was renewed, the machine ran for %s, and the time of day advanced by %s",
			l.Describe(), awake, passed)
	}
	return nil
}
