// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

// Package member runs one member of the store of several servers: an etcd that finds the
// other members, begins with them, and takes the place of one whose disk was lost. Each member
// has a name, a disk and an address that stay with it, as the built-in StatefulSet gives them
// to its pods; ours cannot, since it is kept in this very store.
//
//	options.go    the flags
//	members.go    who the members are
//	serving.go    its certificates, and what clients may do
//	disk.go       whose a disk is, and what is on it
//	peers.go      what the other members say
//	mark.go       what the host cluster knows: whether a store was ever begun
//	decide.go     what to do with a disk; why that loses nothing stands there
//	start.go      does it, again and again until the member runs
//	settle.go     a member that runs becomes one that votes
//	health.go     what probes are told
//	run.go        the life of the process
package member
