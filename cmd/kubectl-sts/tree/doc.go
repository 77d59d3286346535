// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

// Package tree shows a set with its revisions, members and claims, once or live. A pure function
// (render.go) draws the observed state (state.go, filled by source.go). screen.go keeps a terminal
// up to date, and lines.go prints changes to other outputs.
package tree
