// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"os"
	"syscall"

	"statefulset.dev/controller"
)

// trialMemory is the maximum memory of a trial, in bytes, so that a trial that needs ever more ends
// before the container does.
const trialMemory = 512 << 20

// trial evaluates expressions that may have ended the process of the controller, and returns the
// exit code.
func trial(ctx context.Context) int {
	limit := syscall.Rlimit{Cur: trialMemory, Max: trialMemory}
	if err := syscall.Setrlimit(syscall.RLIMIT_DATA, &limit); err != nil {
		fmt.Fprintln(os.Stderr, "limiting the memory of this process:", err)
		return controller.TrialRefused
	}
	// If the container runs out of memory in spite of the limit, the kernel kills this process first.
	_ = os.WriteFile("/proc/self/oom_score_adj", []byte("1000"), 0)
	if err := controller.ServeTrial(ctx, os.Stdin); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return controller.TrialRefused
	}
	return 0
}
