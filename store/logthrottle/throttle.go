// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package logthrottle

import "time"

// Throttle records when a failure was last logged. The same failure is logged less and less often.
// The zero value has logged nothing.
type Throttle struct {
	text  string
	next  time.Time
	pause time.Duration
}

// IsDue reports whether to log a failure now.
func (t *Throttle) IsDue(err error, now time.Time) bool {
	const first, longest = time.Minute, time.Hour
	if text := err.Error(); text != t.text {
		*t = Throttle{text: text, pause: first, next: now.Add(first)}
		return true
	}
	if now.Before(t.next) {
		return false
	}
	t.pause = min(2*t.pause, longest)
	t.next = now.Add(t.pause)
	return true
}
