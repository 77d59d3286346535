// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

// Package hostread reads the host cluster for the controller and package objects: past the caches,
// with pauses and bounds (read.go, parallel.go), and into caches that keep little (cache.go).
package hostread
