// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

// Package load contains the clients of a fault run: they write, read, list and watch the sets of
// one namespace without a pause, and record the responses for packages history and watches.
package load
