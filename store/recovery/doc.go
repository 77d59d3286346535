// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

// Package recovery implements the commands for a store that no server serves.
//
//	backup.go     a consistent copy; the server may be running
//	restore.go    a data directory restored from such a copy
//	rebuild.go    missing sets, rebuilt from their remains in the host cluster
//	leftovers.go  finds these remains
//	set.go        what a set looked like, and which parts were guessed
package recovery
