// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

// Package backend connects to the etcd that holds the store.
//
//	options.go    the flags: an etcd cluster, or an etcd inside the process
//	plaintext.go  refuses to send data to another machine without TLS, unless that is allowed
//	tls.go        the certificate that the members of our own store accept
//	open.go       starts the embedded etcd, or finds a running one
//	client.go     a client for data other than sets
//
// Package apiserver/storage encodes and reads the sets. Package guard decides whether the
// store is the right one.
package backend
