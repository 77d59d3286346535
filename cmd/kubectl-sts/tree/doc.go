// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

// Package tree shows a set with its revisions, members and claims, once or live. What is
// seen (state.go, filled by source.go) is drawn by a pure function (render.go); screen.go
// keeps a terminal up to date, and lines.go prints changes where there is none.
package tree
