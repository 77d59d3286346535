// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

// Package recovery is what an operator does with a store while no server serves it.
//
//	backup.go     a consistent copy; the server may be running
//	restore.go    a data directory made from such a copy
//	rebuild.go    sets that are missing, made again from what the host has left of them
//	leftovers.go  what that is
//	set.go        how a set looked, and what of that was guessed
package recovery
