// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

// Package servertest runs a whole server in the process of a test, with real serving and with real
// storage in an embedded etcd. Only the host cluster, and therefore authorization, is missing.
//
//	server.go    starts the server
//	clients.go   sends requests to it
//	fixtures.go  a set for tests
//
// The tests in this package check what clients of the server observe. Tests of a single package are
// in its external test package.
package servertest
