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
	// Before is when the write has arrived and was not sent on.
	Before Point = iota
	// Committed is when it was carried out, and the answer is being held.
	Committed
	// Replied is when the answer was handed over.
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
	// OK says, from Committed on, whether it has succeeded.
	OK bool
}

// Key names the object that is written, and how.
func (w Write) Key() string {
	return w.Verb + " " + w.Resource + " " + w.Namespace + "/" + w.Name
}

// Gate is told of every write at each of its points, and holds the write for as long
// as it does not return. The context ends when the asking side is gone; a write whose
// context has ended at Before is dropped.
type Gate func(ctx context.Context, at Point, write *Write)

// Fault is what happens to a request instead of being carried out. The zero Fault
// lets it pass.
type Fault struct {
	// Code is the HTTP status to answer with.
	Code int
	// RetryAfter goes with the answer, in whole seconds, if it is not zero.
	RetryAfter time.Duration
	// Commit carries the request out before its answer is replaced.
	Commit bool
}

// Faults chooses the fault of a write, and of a read of a single object.
type Faults func(*Write) Fault
