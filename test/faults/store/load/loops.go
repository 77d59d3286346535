// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package load

import (
	"context"
	"fmt"
	"math/rand/v2"
	"time"

	"statefulset.dev/test/faults/store/history"
)

const (
	red  = "red"
	blue = "blue"
	// afterFailure is how long a client waits after a failed request before the next one, and
	// listPause how long between two lists.
	afterFailure = 20 * time.Millisecond
	listPause    = 250 * time.Millisecond
)

// Keys returns the names of the sets of a run.
func Keys(n int) []string {
	var keys []string
	for i := range n {
		keys = append(keys, fmt.Sprintf("set-%02d", i))
	}
	return keys
}

// Write sends random writes to random sets until the context ends. It completes the pending
// request.
func (c *Client) Write(ctx context.Context, random *rand.Rand, keys []string) {
	finishing := context.WithoutCancel(ctx)
	for ctx.Err() == nil {
		op := c.writeOnce(finishing, random, keys[random.IntN(len(keys))])
		if op.Answer == history.Unknown {
			pause(ctx, afterFailure)
		}
	}
}

func (c *Client) writeOnce(ctx context.Context, random *rand.Rand, key string) history.Operation {
	color := red
	if random.IntN(2) == 0 {
		color = blue
	}
	base, known := c.log.knows(key)
	choice := random.IntN(100)
	switch {
	case !known || choice < 5:
		return c.Create(ctx, key, color)
	case choice < 40:
		return c.Update(ctx, base, color)
	case choice < 85:
		return c.Patch(ctx, key, color)
	default:
		return c.Delete(ctx, base)
	}
}

// ReadAll reads one set after the other until the context ends, with a pause after
// each. A get is answered by the storage, a list by the server's cache.
func (c *Client) ReadAll(ctx context.Context, random *rand.Rand, keys []string, each time.Duration) {
	finishing := context.WithoutCancel(ctx)
	for ctx.Err() == nil {
		op := c.Read(finishing, keys[random.IntN(len(keys))])
		if op.Answer == history.Unknown {
			pause(ctx, afterFailure)
		}
		pause(ctx, each)
	}
}

// ListAll lists all sets again and again until the context ends.
func (c *Client) ListAll(ctx context.Context, keys []string) {
	finishing := context.WithoutCancel(ctx)
	for ctx.Err() == nil {
		// The log has the error.
		_ = c.List(finishing, keys)
		pause(ctx, listPause)
	}
}

func pause(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}
