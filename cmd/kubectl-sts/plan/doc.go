// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

// Package plan is the command that shows what the controller does for a set, and what it would do
// if the set were changed. The server computes the plan in the subresource /plan. This package
// requests and formats it, and changes nothing.
package plan
