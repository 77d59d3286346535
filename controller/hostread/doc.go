// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

// Package hostread is how the controller and its rooms read the host: past the caches, with pauses and
// bounds (read.go, parallel.go), and into caches that keep little (cache.go).
package hostread
