// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

// Package signature authenticates copies of the store with a key that the place of the copies does
// not know. A signed copy is a valid etcd snapshot: it has an additional block between the database
// and its hash, which etcd's own programs ignore.
//
//	keys.go       the key file: the first key signs, all keys verify
//	sign.go       signs a snapshot while it is copied
//	inspect.go    what a file contains, and who created it
package signature
