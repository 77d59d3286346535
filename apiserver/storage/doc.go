// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

// Package storage leads to where sets are stored.
//
//	options.go    the flags: an etcd cluster, or an etcd inside the process
//	plaintext.go  nothing is sent to another machine in the clear unasked
//	tls.go        the certificate that the members of our own store accept
//	open.go       starts the embedded etcd, or finds one that runs
//	etcd.go       the prefix of all keys, and how sets are encoded
//	client.go     a client for what is not a set
//	sets.go       the sets themselves, without a server before them
//
// Whether the store is the right one is not asked here, but in storeguard.
package storage
