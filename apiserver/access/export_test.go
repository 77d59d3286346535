// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package access

// ReviewClient is for tests in another package.
var ReviewClient = reviewClient
