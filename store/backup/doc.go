// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

// Package backup regularly copies the store to a place that outlives it. A copy counts after it was
// read back, restored, and found to contain the same data as the store. Older copies are removed
// only after that.
package backup
