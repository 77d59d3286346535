// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

// Package space bounds what is written to the store: by each namespace, so that one does
// not fill it for all, and by all, so that the last room is left for status and deletions.
//
//	options.go  the flags, and how it is started
//	fill.go     how full etcd is, asked regularly; old revisions are dropped in time
//	metrics.go  the same for alerts
//	room.go     whether there is room for a set; registry/statefulset asks before it writes
//	filter.go   refuses a body before it is read
package space
