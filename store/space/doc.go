// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

// Package space limits how much is written to the store: by each namespace, so that one namespace
// does not fill it for all, and in total, so that some room is left for status and deletions.
//
//	options.go  the flags, and the start
//	fill.go     reads regularly how full etcd is, and compacts old revisions in time
//	metrics.go  the same for alerts
//	room.go     whether there is room for a set; registry/statefulset asks before it writes
//	filter.go   refuses a request before its body is read
package space
