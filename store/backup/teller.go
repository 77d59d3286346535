// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package backup

import (
	"context"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/klog/v2"
)

const (
	// publishRetry is the delay after which a report that could not be written is retried. The
	// delay grows with each failure, up to longestPublishRetry.
	publishRetry        = 10 * time.Second
	longestPublishRetry = 10 * time.Minute
)

// publisher publishes a report when it has changed: once after each attempt to copy, and once when
// a replica begins to lead.
type publisher struct {
	write func(context.Context, Report) error
	last  *Report // nil if this replica has published nothing since it leads
	due   time.Time
	retry wait.Backoff
}

// forget is for a replica that no longer leads: another one publishes reports now.
func (t *publisher) forget() {
	t.last, t.due = nil, time.Time{}
	t.retry = wait.Backoff{Duration: publishRetry, Factor: 2, Steps: 32, Cap: longestPublishRetry, Jitter: 0.1}
}

func (t *publisher) publish(ctx context.Context, now time.Time, report Report) {
	if t.write == nil || now.Before(t.due) || t.last != nil && *t.last == report {
		return
	}
	err := t.write(ctx, report)
	if err == nil {
		t.forget()
		t.last = &report
		return
	}
	if ctx.Err() != nil {
		return
	}
	delay := t.retry.Step()
	t.due = now.Add(delay)
	klog.FromContext(ctx).Error(err, "Failed to publish the backup status; backups continue", "next",
		delay.Round(time.Second))
}
