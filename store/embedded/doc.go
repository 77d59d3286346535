// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

// Package embedded runs an etcd inside this process: for a server that was given no other,
// with itself as the only member, and as one of several members of a cluster.
//
//	datadir.go  whose a data directory is: one process at a time, and only data that this
//	            version can read
//	check.go    what is damaged in it, before etcd looks
//	etcd.go     the etcd itself, which listens on a socket that is ours alone
//	part.go     an etcd with other members beside it
//	log.go      what etcd logs, and how the process ends when etcd cannot go on
//	running.go  the etcd of a server in another process
//	restore.go  a new directory from a database that was backed up
//
// Whatever is wrong with a directory is an error that says what to do, and nothing in it is
// changed then.
package embedded
