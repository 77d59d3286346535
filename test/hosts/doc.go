// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

// Package hosts tests what depends on the version of the host cluster: what a host
// serves and what the server makes of it, and a host that is upgraded under a running
// server. hack/test-hosts.sh runs it, beside other suites, on each version.
package hosts
