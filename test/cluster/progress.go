// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"io"
	"sync"
	"time"
)

const progressEvery = 5 * time.Second

// reportProgress prints a line with the elapsed time every few seconds until the returned function
// is called, which may happen more than once.
func reportProgress(what string, out io.Writer) (stop func()) {
	begun := time.Now()
	fmt.Fprintf(out, "%s ...\n", what)
	ticker := time.NewTicker(progressEvery)
	done := make(chan struct{})
	var wg sync.WaitGroup
	wg.Go(func() {
		for {
			select {
			case <-ticker.C:
				fmt.Fprintf(out, "%s ... %s\n", what, elapsed(begun))
			case <-done:
				return
			}
		}
	})
	return sync.OnceFunc(func() {
		ticker.Stop()
		close(done)
		wg.Wait()
	})
}

func elapsed(since time.Time) time.Duration {
	d := time.Since(since)
	if d < 10*time.Second {
		return d.Round(100 * time.Millisecond)
	}
	return d.Round(time.Second)
}

// pause waits for d or for the end of ctx, whichever comes first.
func pause(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
