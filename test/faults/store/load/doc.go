// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

// Package load is the clients of a fault run: they write, read, list and watch the
// sets of one namespace without a pause, and note what they were told for package
// history and package watches to judge.
package load
