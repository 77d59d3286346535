// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

// Package member runs one member of the store of several servers: an etcd that finds the other
// members, starts with them, and replaces a member whose disk was lost. Each member has a stable
// name, disk and address, as the pods of the built-in StatefulSet have. Our own StatefulSet cannot
// run the members, because it is stored in this store.
//
//	options.go    the flags
//	members.go    the list of members
//	serving.go    its certificates, and what clients may do
//	disk.go       the owner of a disk, and what is on it
//	peers.go      the answers of the other members
//	mark.go       the cluster note: a ConfigMap with the store that was created
//	decide.go     what to do with a disk, and why that loses nothing
//	start.go      does it, again and again until the member runs
//	settle.go     turns a running member into a voter
//	health.go     the answers to probes
//	run.go        the life of the process
package member
