// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

// Package backup copies the store again and again to a place that outlives it. A copy counts when it
// was read back from there, restored, and found to hold what the store holds; until then no older
// copy is removed.
package backup
