//go:build e2e

// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"os"
	"testing"

	"statefulset.dev/test/harness"
)

// suite is what every test uses. It is set once, before the first test runs.
var suite struct{ *harness.Cluster }

func TestMain(m *testing.M) { os.Exit(harness.Main(m, &suite.Cluster)) }

func namespace(t *testing.T) string {
	t.Helper()
	return suite.Namespace(t, "e2e")
}

// kubectl runs the cluster's kubectl as a user would, and fails the test if that
// fails.
func kubectl(t *testing.T, args ...string) string {
	t.Helper()
	return suite.MustKubectl(t, "", args...)
}

// kubectlApply applies a manifest, given as text.
func kubectlApply(t *testing.T, manifest string, args ...string) {
	t.Helper()
	suite.MustKubectl(t, manifest, append([]string{"apply", "-f", "-"}, args...)...)
}
