// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"os"
	"runtime/debug"
	"testing"
)

// TestMain lets the heap grow: random sequences leave much garbage and keep little, and to collect it
// takes a third of their time otherwise.
func TestMain(m *testing.M) {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(800)
	}
	os.Exit(m.Run())
}
