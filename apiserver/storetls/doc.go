// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

// Package storetls makes the certificates by which servers and the members of their store
// know each other. The authority that signs them is in a Secret of the host cluster, made by
// whoever comes first; whoever can read it belongs to the store.
//
//	authority.go  the authority
//	rotate.go     another one takes its place, while everything runs
//	files.go      a certificate in files, where etcd reads it, renewed in time
package storetls
