// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

// Package model is an API server in memory that is exact in everything that a controller can
// observe: names, UIDs, resource versions and preconditions, finalizers and graceful deletion,
// status as a subresource, the patches that our controller sends, lists and watches with their
// bookmarks, in JSON and in protobuf.
//
// It has no goroutine, no clock and no lock: the caller determines what happens when, one thing
// after the other, and the time. It validates and defaults only what the controller reads, and its
// only admission is the finalizer that protects claims in use. Package conformance sends the same
// requests to it and to a real kube-apiserver and compares the responses.
//
//	server.go   create, get and update      watch.go    streams of changes
//	delete.go   deletion                    codec.go    encoding
//	list.go     lists, also of the past     request.go  requests and their responses
//	patch.go    patches                     kinds.go    the resources
package model
