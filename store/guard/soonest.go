// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package guard

import (
	"context"
	"time"
)

// hedgeDelay is how long a member of etcd may take to answer before the next one is asked, too. A
// member that does not reach its leader reports that only after seven seconds, and all requests
// wait for the same answer.
const hedgeDelay = 500 * time.Millisecond

// hedge calls ask up to a number of times, with a delay between the calls, and returns the first
// answer. Each call may go to another server, so a repeated request must do no harm.
func hedge[T any](ctx context.Context, most int, after time.Duration, ask func(context.Context) (T, error)) (T, error) {
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
