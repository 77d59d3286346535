// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

// Package hostcluster is the way to the cluster that authenticates and authorizes for the
// server, and in which the members of the sets run.
//
//	host.go      the clients, none of which has a rate of its own, and the wait at start
//	serves.go    what the host serves, and its version
//	kinds.go     which resources are of a kind, and what this server may do with them
//	watch.go     whether it can be used, asked regularly and remembered
//	services.go  which headless Services it has
//	storage_classes.go  which StorageClasses it lacks
package hostcluster
