// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

// Package uninstall removes an installation from a real cluster, while the real garbage collector
// runs: in wrong orders, which the guard must not allow, and in the right order, interrupted after
// every write. The server is a local process; it is stopped when its Deployment is deleted, as its
// pods would be.
package uninstall
