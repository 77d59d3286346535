// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

// Package backend leads to the etcd that holds the store.
//
//	options.go    the flags: an etcd cluster, or an etcd inside the process
//	plaintext.go  nothing is sent to another machine in the clear unasked
//	tls.go        the certificate that the members of our own store accept
//	open.go       starts the embedded etcd, or finds one that runs
//	client.go     a client for what is not a set
//
// Package apiserver/storage encodes and reads the sets. Package guard decides whether the
// store is the right one.
package backend
