// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

// Package argocd runs the scripts below artifacts/argocd, which tell Argo CD how a set
// is and what can be done with it, in a Lua machine, with the test files beside them.
// The sets in the health tests have statuses that the planner makes; the flag -update
// writes them anew.
package argocd
