// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

// Package hostile shows on a real cluster, with the real garbage collector, that the
// server survives what it is given: stored values that cannot be read, bodies that were
// made to hurt, expressions that ask for gigabytes or minutes, and more clients than it can
// serve.
package hostile
