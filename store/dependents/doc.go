// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

// Package dependents finds the objects of sets in the host cluster: pods, claims and revisions with
// a set as their owner. The garbage collector deletes them when it is informed that the set does
// not exist.
//
//	walk.go        visits everything that could belong to a set
//	owners.go      all sets to which objects belong, and which objects
//	dependents.go  the objects of one set, for registry/damaged
package dependents
