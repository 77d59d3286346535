// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

// Package members changes which members a set has, one by one, down to none.
package members
