// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package hostread

import (
	"context"
	"fmt"
	"runtime/debug"
	"sync"

	"k8s.io/klog/v2"
)

// InParallel calls do for 0 to n-1, at most limit at a time, and returns what each call returned. A
// panic becomes the error of its call.
func InParallel(ctx context.Context, n, limit int, do func(int) error) []error {
	errs := make([]error, n)
	var running sync.WaitGroup
	slots := make(chan struct{}, limit)
	for i := range n {
		slots <- struct{}{}
		running.Go(func() {
			defer func() { <-slots }()
			errs[i] = CatchPanic(ctx, func() error { return do(i) })
		})
	}
	running.Wait()
	return errs
}

// CatchPanic turns a panic into an error, and logs the stack.
func CatchPanic(ctx context.Context, do func() error) (err error) {
	defer func() {
		if reason := recover(); reason != nil {
			err = fmt.Errorf("panic: %v", reason)
			klog.FromContext(ctx).Error(err, "Recovered from a panic", "stack", string(debug.Stack()))
		}
	}()
	return do()
}
