// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

// Package filters holds what stands before everything that is served and needs no state of
// the server:
//
//	announce.go  names our version to who discovers the group
//	redirect.go  answers what the generic server would redirect
//	plans.go     bounds how many plans are made at the same time
//	handover.go  moves clients to other replicas while this one shuts down
//
// Filters that belong to a room are there: bodylimit, store/guard, store/space.
package filters
