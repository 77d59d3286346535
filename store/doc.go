// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

// Package store is the parent directory of the packages that operate the etcd store. It has no code
// of its own:
//
//	backend/       which etcd holds the store: flags, TLS and a client
//	embedded/      an etcd inside the process
//	guard/         serves nothing from a store that the host cluster does not know
//	space/         how much may be written to the store
//	member/        one member of the store that several servers share
//	certificates/  certificates of members and of their clients
//	rights/        what members and servers may request from a member
//	backup/        copies of the store that the leading replica writes
//	signature/     signatures of these copies
//	recovery/      the commands that back up, restore and rebuild a store
//
// The server uses these packages, and so do the commands for the store. Three more packages do not
// use etcd, and apiserver uses them too:
//
//	dependents/    objects of sets in the host cluster
//	issuer/        certificate authorities (CAs), and the certificates that they sign
//	logthrottle/   logs a lasting failure less and less often
//
// No package imports apiserver, registry, controller or cmd. A package gets what it needs from them
// as an argument: store/recovery gets the sets from apiserver/storage through the command.
package store
