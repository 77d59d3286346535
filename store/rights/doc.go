// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

// Package rights decides what a client of a member of the store may do, by the name in its
// certificate. Members may do everything, servers what they need for their keys, and other clients
// nothing. Etcd's own users and roles cannot express that: with them, only a root user may compact
// and copy the store, and servers must do both.
//
//	rights.go  who sends a request, and which requests they may send
//	keys.go    which keys a request is about
package rights
