// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

// Package hosts tests what depends on the version of the host cluster: what the cluster serves and
// how the server uses it, and an upgrade of the cluster under a running server. hack/test-hosts.sh
// runs it, in addition to other suites, on each version.
package hosts
