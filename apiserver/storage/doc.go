// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

// Package storage stores sets in the etcd to which package store/backend connects.
//
//	etcd.go      how sets are encoded
//	sets.go      direct access to sets, without a server
//	unserved.go  the sets of a store that no server uses, for store rebuild
package storage
