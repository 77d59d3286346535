// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

// Package embedded runs an etcd inside this process: as the only member, for a server without an
// external etcd, or as one of several members of a cluster.
//
//	datadir.go  who may use a data directory: one process at a time, and only data that this
//	            version can read
//	check.go    finds damage in the data before etcd starts
//	etcd.go     the etcd itself, which listens on a private socket
//	part.go     an etcd that is one of several members
//	log.go      the log of etcd, and how the process ends when etcd cannot continue
//	running.go  the etcd of a server in another process
//	restore.go  a new directory from the database of a backup
//
// Every problem with a directory is an error that says what to do, and then nothing in the
// directory is changed.
package embedded
