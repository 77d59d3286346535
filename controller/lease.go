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

// lease is a lock that remembers until when it is surely ours. Leader election
// tells us that leadership is lost by a timer, and a process that was stopped may
// wake up and write before that timer has had its turn. So every write compares
// the clocks with what the lease itself says.
//
// There are two: one counts while the machine runs and cannot be set, but stands
// still while the machine is suspended; the other is the time of day, which goes on,
// and may be set. The lease is held if both say so. The time of day says nothing any
// more when it is before the lease was taken, so then it is not held until it is
// renewed.
type lease struct {
	resourcelock.Interface

	clock    clock.PassiveClock
	timeout  time.Duration
	duration time.Duration
	// since holds a time.Time, when the last write of the lease that succeeded was begun;
	// zero if we do not hold it.
	since atomic.Value
	// holder is whom the lease named when the elector last read or wrote it.
	holder string
}

func newLease(lock resourcelock.Interface, options Options, clock clock.PassiveClock) *lease {
	l := &lease{Interface: lock, clock: clock, timeout: options.RenewDeadline / 2, duration: options.LeaseDuration}
	l.since.Store(time.Time{})
	return l
}

// Get reads the lease from the host.
func (l *lease) Get(ctx context.Context) (*resourcelock.LeaderElectionRecord, []byte, error) {
	ctx, cancel := context.WithTimeout(ctx, l.timeout)
	defer cancel()
	record, raw, err := l.Interface.Get(ctx)
	if err == nil {
		l.holder = record.HolderIdentity
	}
	return record, raw, err
}

// Create takes a lease that does not exist yet.
func (l *lease) Create(ctx context.Context, record resourcelock.LeaderElectionRecord) error {
	return l.write(ctx, record, l.Interface.Create)
}

// Update takes, renews or gives back the lease.
func (l *lease) Update(ctx context.Context, record resourcelock.LeaderElectionRecord) error {
	return l.write(ctx, record, l.Interface.Update)
}

func (l *lease) write(ctx context.Context, record resourcelock.LeaderElectionRecord,
	write func(context.Context, resourcelock.LeaderElectionRecord) error,
) error {
	ctx, cancel := context.WithTimeout(ctx, l.timeout)
	defer cancel()
	// Others count from when they see the write, which is later than now.
	began := l.clock.Now()
	if record.HolderIdentity != l.Identity() {
		l.since.Store(time.Time{})
		if l.holder != l.Identity() {
			return fmt.Errorf("the lease %s is held by %q by now, and is not ours to give back", l.Describe(), l.holder)
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

// check returns an error if the lease may be somebody else's by now.
func (l *lease) check() error {
	since, _ := l.since.Load().(time.Time)
	if since.IsZero() {
		return fmt.Errorf("the lease %s is not held", l.Describe())
	}
	awake, passed := l.clock.Since(since), l.clock.Now().Round(0).Sub(since.Round(0))
	if max(awake, passed) >= l.duration || passed < 0 {
		return fmt.Errorf("the lease %s is not held any more: the machine ran for %s since it was renewed, and the time of day went on by %s",
			l.Describe(), awake, passed)
	}
	return nil
}
