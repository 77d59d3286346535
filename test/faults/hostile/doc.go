// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

// Package hostile shows on a real cluster, with the real garbage collector, that the server
// survives hostile input: stored values that cannot be read, malicious request bodies, expressions
// that need gigabytes or minutes, and more clients than it can serve.
package hostile
