// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

// Package filters has the filters of all requests that need no state of the server:
//
//	announce.go  adds the version of this server to discovery
//	redirect.go  answers requests that the generic server would redirect
//	plans.go     limits how many plans are created at the same time
//	handover.go  moves clients to other replicas while this one shuts down
//
// Filters that belong to another package are there: bodylimit, store/guard, store/space.
package filters
