// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

// Package guard keeps anything from being served from a store that is not the one that
// the host cluster knows: the garbage collector deletes the pods of a set that is said not to
// exist.
//
//	record.go   what the store says of itself, with a mark that is set again and again
//	history.go  which marks a store has held
//	anchor.go   what the host knows of it: a ConfigMap, called the note in what users read
//	guard.go    the life of the guard; why this is enough stands there
//	judge.go    whether the store is the right one
//	refusal.go  if not: what was found, what is at stake, and what can be done
//	mark.go     after that: the mark follows what is written, and the controller waits for it
//	format.go   whether this version knows what is in the store
//	extensions.go  which fields need the latest format, and which version of ours has it
//	proof.go    what was read is true in the right store; asked together
//	storage.go  and watch.go: etcd as the watch cache sees it, proven
//	filter.go   requests: 503 with the reason, and no "not found" unproven
//	serve.go    what a server uses of all this
//	offline.go  what the commands for the store use of it
//
// Tests with a whole server are in package guard_test.
package guard
