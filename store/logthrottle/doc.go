// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

// Package logthrottle logs a reason that stays the same ever more rarely.
package logthrottle
