// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

// Package client is what is beside the generated code of the Go client.
//
//	connect.go  finds a cluster as kubectl does, and says at once what of the way to it cannot work
//	patch.go    patches, in one of the four ways that there are
//	watch.go    watches without a gap, across connections
//
// Package clientset/versioned has the clients, informers/externalversions and listers keep sets in memory,
// and applyconfiguration/apps/v1 has the types of server-side apply.
package client
