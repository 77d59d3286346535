// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

// Package evaluate releases StatefulSets whose expressions the controller does not evaluate any more.
package evaluate
