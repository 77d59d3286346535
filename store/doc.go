// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

// Package store is the directory of what operates the etcd store. It has no code outside of its
// rooms:
//
//	backend/       which etcd holds the store: flags, TLS and a client
//	embedded/      an etcd inside the process
//	guard/         nothing is served from a store that the host cluster does not know
//	space/         how much may be written to the store
//	member/        one member of the store that several servers share
//	certificates/  certificates of members and of their clients
//	rights/        what members and servers may request from a member
//	backup/        copies of the store that the leading replica writes
//	signature/     signatures of these copies
//	recovery/      the commands that back up, restore and rebuild a store
//
// The server uses these rooms, and so do the commands for the store. Three more rooms have no etcd
// in them, and apiserver uses them too:
//
//	dependents/    what belongs to sets in the host cluster
//	issuer/        certificate authorities, and the certificates that they sign
//	logthrottle/   logs a lasting failure less and less often
//
// No room imports apiserver, registry, controller or cmd. A room gets what it needs of them as an
// argument: store/recovery gets the sets from apiserver/storage through the command.
package store
