// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

// Package hostcluster connects to the host cluster: the cluster that authenticates and authorizes
// for the server, and in which the pods of the sets run.
//
//	host.go             the clients, without rate limits, and the wait at startup
//	serves.go           what the cluster serves, and its version
//	kinds.go            the resources of a kind, and the rights of this server
//	watch.go            checks regularly whether the cluster can be used
//	services.go         which headless Services it has
//	storage_classes.go  which StorageClasses it lacks
package hostcluster
