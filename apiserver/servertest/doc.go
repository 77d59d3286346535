// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

// Package servertest is a whole server in the process of a test: real serving, real storage
// in an embedded etcd. Only the host cluster is missing, and with it authorization.
//
//	server.go    starts it
//	clients.go   asks it
//	fixtures.go  a set to ask about
//
// The tests here are those of what clients of the server see. Those of one room are there, in
// its external test package.
package servertest
