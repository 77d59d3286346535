// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package backup

import (
	"context"
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/klog/v2"
)

const (
	// poll is how often a replica checks whether it leads, and whether a copy is due.
	poll = 5 * time.Second
	// firstRetry is the delay of the next attempt after a failure. It doubles up to Every.
	firstRetry = time.Minute
)

// Run creates copies while this replica leads, until ctx ends. The first copy is due one interval
// after the newest one, no matter which replica created that.
func (k *Keeper) Run(ctx context.Context, leads func() bool) {
	schedule := newSchedule(k)
	_ = wait.PollUntilContextCancel(ctx, poll, true, func(ctx context.Context) (bool, error) {
		schedule.sync(ctx, leads())
		return false, nil
	})
}

// schedule decides when the next copy is due.
type schedule struct {
	*Keeper
	// due is when to act next, known whether this replica has listed the copies.
	due     time.Time
	known   bool
	retry   wait.Backoff
	metrics progress
	// report is the state that the publisher publishes.
	report    Report
	publisher publisher
}

func newSchedule(k *Keeper) *schedule {
	s := &schedule{Keeper: k, metrics: newProgress(), report: Report{Every: k.Every}, publisher: publisher{write: k.Publish}}
	s.forgive()
	s.publisher.forget()
	return s
}

// forgive resets the delay after a success.
func (s *schedule) forgive() {
	s.retry = wait.Backoff{Duration: min(firstRetry, s.Every), Factor: 2, Steps: 32, Cap: s.Every, Jitter: 0.1}
}

func (s *schedule) sync(ctx context.Context, leads bool) {
	if !leads {
		s.due, s.known = time.Time{}, false
		s.publisher.forget()
		s.report = Report{Every: s.Every}
		return
	}
	for _, act := range []func(context.Context){s.await, s.make} {
		if !s.Now().Before(s.due) {
			act(ctx)
		}
	}
	s.publisher.publish(ctx, s.Now(), s.report)
}

// await determines when the last copy was created, if this replica does not know.
func (s *schedule) await(ctx context.Context) {
	if s.known {
		return
	}
	names, err := s.Place.List(ctx)
	if err != nil {
		s.failed(ctx, fmt.Errorf("listing the copies in %s: %w", s.To, err))
		return
	}
	s.known = true
	if copies := verifiedOnly(parseCopies(names)); len(copies) > 0 {
		newest := copies[len(copies)-1]
		s.metrics.lastVerified.Set(float64(newest.made.Unix()))
		s.report.Verified, s.report.Name = newest.made, newest.name()
		// If the time is in the future, a clock was wrong.
		if !newest.made.After(s.Now()) {
			s.due = newest.made.Add(s.Every)
		}
	}
}

func (s *schedule) make(ctx context.Context) {
	begun := s.Now()
	made, err := s.once(ctx)
	if made.Name == "" {
		s.failed(ctx, err)
		return
	}
	s.forgive()
	s.due = begun.Add(s.Every)
	s.metrics.attempts.WithLabelValues(resultVerified).Inc()
	s.metrics.lastVerified.Set(float64(begun.Unix()))
	s.report = Report{Every: s.Every, Verified: begun, Name: made.Name, Key: made.Key}
	log := klog.FromContext(ctx)
	log.Info("Copied the store and verified the copy", "to", s.To, "name", made.Name, "key", made.Key, "bytes", made.Size,
		"keys", made.Contents.Keys, "revision", made.Contents.Revision, "removed", made.Removed)
	if err != nil {
		log.Error(err, "Failed to remove older copies of the store")
	}
}

func (s *schedule) failed(ctx context.Context, err error) {
	if ctx.Err() != nil {
		return
	}
	delay := s.retry.Step()
	s.due = s.Now().Add(delay)
	s.metrics.attempts.WithLabelValues(resultFailed).Inc()
	s.report.Failed, s.report.Failure = s.Now(), err.Error()
	klog.FromContext(ctx).Error(err, "Failed to copy the store; keeping all older copies", "next", delay.Round(time.Second))
}
