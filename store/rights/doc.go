// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

// Package rights decides what a client of a member of the store may do, by the name in its
// certificate: members may do everything, servers what they need for their keys, and no other client
// anything. Etcd's own users and roles cannot say that: with them on, only a root user may compact
// and copy the store, which servers do.
//
//	rights.go  who asks, and which requests they may send
//	keys.go    which keys a request is about
package rights
