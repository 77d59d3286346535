// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

// Package model is an API server in memory, exact in what a controller can notice:
// names, UIDs, resource versions and preconditions, finalizers and graceful
// deletion, status as a subresource, the patches that our controller sends, lists
// and watches with their bookmarks, in JSON and in protobuf.
//
// It has no goroutine, no clock and no lock: the caller says what happens when, one
// thing after the other, and gives the time. It does not validate or default more
// than the controller reads, and it has no admission but the finalizer that protects
// claims in use. Package conformance plays the same requests to it and to a real
// kube-apiserver and compares the answers.
//
//	server.go   create, get and update      watch.go    streams of changes
//	delete.go   deletion                    codec.go    what goes over the wire
//	list.go     lists, also of the past     request.go  requests and their answers
//	patch.go    patches                     kinds.go    what there is
package model
