// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package sim

import (
	"context"
	"fmt"
	"io"
	"slices"
	"sync"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/apimachinery/pkg/watch"

	"statefulset.dev/test/faults/sim/model"
)

// stream is one watch of a replica, and the body of its answer.
type stream struct {
	*model.Stream
	by      *replica
	request *model.Request
	server  *model.Server
	ctx     context.Context
	// events counts what was delivered of the changes.
	events int
	// held is true while nothing is delivered.
	held bool

	frames chan []byte
	rest   []byte
	// closed is closed by the server, left by the client.
	closed, left chan struct{}
	leave        sync.Once
}

func (w *world) newStream(c *call) (*stream, error) {
	if c.List.SendInitialEvents != nil && w.noWatchLists {
		return nil, errNoWatchLists(c.Resource)
	}
	inner, err := c.server.Watch(c.Request, w.past[c.Resource])
	if err != nil {
		return nil, err
	}
	s := &stream{Stream: inner, by: c.by, request: c.Request, server: c.server, ctx: c.ctx,
		frames: make(chan []byte, 2), closed: make(chan struct{}), left: make(chan struct{})}
	// From a cache that lags behind, nothing newer comes.
	_, s.held = w.past[c.Resource]
	return s, nil
}

// Read is called by the client.
func (s *stream) Read(into []byte) (int, error) {
	if len(s.rest) == 0 {
		// What was sent comes before the end.
		select {
		case s.rest = <-s.frames:
			return s.read(into), nil
		default:
		}
		select {
		case s.rest = <-s.frames:
		case <-s.closed:
			return 0, io.EOF
		case <-s.left:
			return 0, io.EOF
		case <-s.ctx.Done():
			return 0, s.ctx.Err()
		case <-s.by.dead:
			return 0, errNoConnection
		}
	}
	return s.read(into), nil
}

func (s *stream) read(into []byte) int {
	n := copy(into, s.rest)
	s.rest = s.rest[n:]
	return n
}

// Close is called by the client.
func (s *stream) Close() error {
	s.leave.Do(func() { close(s.left) })
	return nil
}

// over reports whether nobody listens any more.
func (s *stream) over() bool {
	select {
	case <-s.left:
		return true
	default:
		return s.ctx.Err() != nil || s.by.gone()
	}
}

// send delivers one event. A stream of which nobody takes the last one has hung up.
func (w *world) send(s *stream, event watch.Event) {
	if len(s.frames) == cap(s.frames) {
		w.hangUpIfOpen(s)
		return
	}
	frame, err := s.server.EncodeEvent(s.request, event)
	if err != nil {
		panic(fmt.Sprintf("encoding an event of %s: %v", s.request, err))
	}
	s.frames <- frame
}

// deliver sends the next event of a stream.
func (w *world) deliver(s *stream) watch.Event {
	change := !s.Beginning()
	if change {
		s.events++
	}
	event := s.Next()
	w.trace("-> %s: %s %s %s", s.by.name, event.Type, s.Resource().Resource, nameOf(event))
	w.judge.delivered(s, event, !change)
	w.send(s, event)
	return event
}

// waits reports whether there is an event that may be delivered. From a cache that
// stands still, a first list comes only to those to whom any state will do.
func (s *stream) waits() bool {
	if s.held && (!s.Beginning() || s.request.List.ResourceVersion == "") {
		return false
	}
	return !s.by.cut && len(s.frames) == 0 && s.Waiting()
}

// hangUp ends a stream as a server does.
func (w *world) hangUp(s *stream) {
	w.streams = slices.DeleteFunc(w.streams, func(other *stream) bool { return other == s })
	close(s.closed)
}

// errNoWatchLists is the answer of a server that does not begin watches with lists.
func errNoWatchLists(resource schema.GroupVersionResource) error {
	return apierrors.NewInvalid(schema.GroupKind{Group: "meta.k8s.io", Kind: "ListOptions"}, resource.Resource, field.ErrorList{
		field.Forbidden(field.NewPath("sendInitialEvents"),
			"sendInitialEvents is forbidden for watch unless the WatchList feature gate is enabled"),
	})
}

func nameOf(event watch.Event) string {
	if object, ok := event.Object.(model.Object); ok {
		return object.GetName() + " at " + object.GetResourceVersion()
	}
	return fmt.Sprintf("%T", event.Object)
}
