// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

// Package uninstall takes an installation on a real cluster apart, with the real garbage
// collector at work: in wrong orders, which the guard must not let pass, and in the right
// one, interrupted after every write. The server is a local process; it is stopped when its
// Deployment is gone, as its pods would be.
package uninstall
