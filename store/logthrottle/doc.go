// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

// Package logthrottle logs a lasting failure less and less often.
package logthrottle
