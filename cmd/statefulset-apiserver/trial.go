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

// trialMemory is how much memory a trial may write to, in bytes, so that one that takes ever more ends
// before the container does.
const trialMemory = 512 << 20

// trial evaluates what the controller suspects to end its process, and returns the exit code.
func trial(ctx context.Context) int {
	limit := syscall.Rlimit{Cur: trialMemory, Max: trialMemory}
	if err := syscall.Setrlimit(syscall.RLIMIT_DATA, &limit); err != nil {
		fmt.Fprintln(os.Stderr, "limiting the memory of this process:", err)
		return controller.TrialRefused
	}
	// If the memory of the container runs out all the same, this process is the one to end.
	_ = os.WriteFile("/proc/self/oom_score_adj", []byte("1000"), 0)
	if err := controller.ServeTrial(ctx, os.Stdin); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return controller.TrialRefused
	}
	return 0
}
