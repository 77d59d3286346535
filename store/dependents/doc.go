// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

// Package dependents finds what belongs to sets in the host cluster: pods, claims and
// revisions that name a set as their owner. The garbage collector deletes them when it hears
// that the set does not exist.
//
//	walk.go        goes through everything that could belong to a set
//	owners.go      all sets that anything belongs to, and what
//	dependents.go  what belongs to one set, for registry/damaged
package dependents
