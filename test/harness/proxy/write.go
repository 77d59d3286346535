// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package proxy

import (
	"context"
	"time"
)

// Point is a moment in the life of a write.
type Point int

// The points of a write, in their order.
const (
	// Before is when the write has arrived and is not forwarded yet.
	Before Point = iota
	// Committed is when it was carried out, and its response is held.
	Committed
	// Replied is when the response was delivered.
	Replied
)

func (p Point) String() string {
	return [...]string{"before it is sent", "after its commit, before the reply", "after the reply"}[p]
}

// Write is a request that changes an object of a namespace.
type Write struct {
	// Verb is the HTTP method, or "TXN" for a transaction of etcd.
	Verb string
	// Resource is the plural, with its subresource if there is one.
	Resource, Namespace, Name string
	// OK is true, from Committed on, if the write has succeeded.
	OK bool
}

// Key returns the method and the name of the written object.
func (w Write) Key() string {
	return w.Verb + " " + w.Resource + " " + w.Namespace + "/" + w.Name
}

// Gate is called for every write at each of its points, and holds the write until it returns. The
// context ends when the client is gone. A write whose context has ended at Before is dropped.
type Gate func(ctx context.Context, at Point, write *Write)

// Fault is the failure of a request. With the zero Fault, the request succeeds.
type Fault struct {
	// Code is the HTTP status of the response.
	Code int
	// RetryAfter is added to the response, in whole seconds, if it is not zero.
	RetryAfter time.Duration
	// Commit carries out the request before its response is replaced.
	Commit bool
}

// Faults chooses the fault of a write, and of a read of a single object.
type Faults func(*Write) Fault
