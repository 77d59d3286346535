// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

// Package signature authenticates copies of the store with a key that the place of the copies does not
// have. A signed copy is a snapshot of etcd like any other: between the database and its hash it has
// one more block, which etcd's own programs do not read.
//
//	keys.go       the file of keys: the first signs, all verify
//	sign.go       a snapshot is signed while it is copied
//	inspect.go    what a file holds, and who made it
package signature
