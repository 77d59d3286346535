// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package guard

import (
	"context"
	"time"
)

// anotherAfter is how long a member of etcd may take to answer before the next one is asked, too. A member that does not reach its
// leader says so after seven seconds only, and all requests wait for the same answer.
const anotherAfter = 500 * time.Millisecond

// soonest asks up to so many times, each time a while after the time before, and returns the answer that comes first. Each time may
// ask somebody else; what is asked must do no harm when it is asked twice.
func soonest[T any](ctx context.Context, most int, after time.Duration, ask func(context.Context) (T, error)) (T, error) {
	type answered struct {
		answer T
		err    error
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	answers := make(chan answered, most)
	again := time.NewTicker(after)
	defer again.Stop()
	for left := most; ; {
		if left > 0 {
			left--
			go func() {
				answer, err := ask(ctx)
				answers <- answered{answer, err}
			}()
		}
		select {
		case first := <-answers:
			return first.answer, first.err
		case <-again.C:
		}
	}
}
