// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

// Package settest provides sets for the tests of the registry, and changes of them.
package settest
