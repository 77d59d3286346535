// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

// Package settest has sets for the tests of the registry, and changes to them.
package settest
