// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

// Package members removes and replaces single members of a set, and removes all members in order.
package members
