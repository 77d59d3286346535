// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package harness

import (
	"context"
	"fmt"
	"os"
	"testing"
)

// Main opens the cluster for all tests of a package and runs them after the warm-up. It returns the
// exit code.
func Main(m *testing.M, cluster **Cluster) int {
	opened, err := Open()
	if err == nil {
		err = opened.WarmUp(context.Background())
	}
	if err != nil {
		fmt.Fprintf(os.Stderr, "opening the cluster: %v\n", err)
		return 1
	}
	*cluster = opened
	return m.Run()
}
