// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

// Package argocd runs the scripts below artifacts/argocd, which give Argo CD the health of a set
// and its actions, in a Lua machine, with the test files next to the scripts. The sets in the
// health tests have statuses from the planner; the flag -update regenerates them.
package argocd
