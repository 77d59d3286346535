// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

// Package identity says which members a set has, and what belongs to one: given the set and
// an ordinal, it names and builds the member's pod and claims, and it writes and reads what a
// revision records of a template. Everything here is a pure function, and everything is
// exactly as apps/v1 has it (names, labels, owner references with our group in them), so that
// a set can move between the two without a pod being restarted.
package identity
