// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

// Package plan is the command that shows what the controller does for a set, and what
// it would do if the set were changed. The server computes it, in the subresource
// /plan; here it is asked for and made readable. Nothing is changed.
package plan
