// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

// Package guard ensures that nothing is served from a store that is not the one that the host
// cluster knows: if the server answers that a set does not exist, the garbage collector deletes its
// pods.
//
//	record.go   what the store records about itself, with a mark that changes again and again
//	history.go  which marks a store has had
//	anchor.go   the note: a ConfigMap with what the host cluster knows about the store
//	guard.go    the life of the guard, and why this is sufficient
//	judge.go    decides whether the store is the right one
//	refusal.go  if not: what was found, what is at risk, and what can be done
//	mark.go     if so: the mark follows the writes, and the controller waits for it
//	format.go   whether this version can read everything in the store
//	extensions.go  which fields need the latest format, and which of our versions has it
//	proof.go    proves that data came from the right store, in batches
//	storage.go  and watch.go: etcd as the watch cache sees it, proven
//	filter.go   requests: 503 with the reason, and no unproven "not found"
//	serve.go    the part that a server uses
//	offline.go  the part that the commands for the store use
//
// Tests with a whole server are in package guard_test.
package guard
