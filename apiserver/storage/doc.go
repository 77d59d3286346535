// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

// Package storage stores sets in the etcd to which package store/backend leads.
//
//	etcd.go      how sets are encoded
//	sets.go      the sets themselves, without a server before them
//	unserved.go  the sets of a store that no server uses, for store rebuild
package storage
