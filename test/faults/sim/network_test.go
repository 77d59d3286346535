// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package sim

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	v1 "statefulset.dev/api/apps/v1"
	"statefulset.dev/test/faults/sim/model"
)

var errNoConnection = errors.New("the connection is broken")

// call is one request of a replica on its way.
type call struct {
	*model.Request
	by     *replica
	server *model.Server
	ctx    context.Context
	// committed is true as soon as the server has carried it out, with this result.
	committed bool
	result    runtime.Object
	err       error
	// again is true if the client library sends it once more, because it was told to.
	again bool
	// known is the set as the replica knew it when it sent the call, nil for none.
	known *v1.StatefulSet
	// retryAfter are the seconds after which the server wants to be asked again.
	retryAfter int
	stream     *stream
	answer     chan *http.Response
}

// writes reports whether the call is one of those that change what the controller
// is there for, and not one of its leases or events.
func (c *call) writes() bool {
	return c.Mutates() && c.Resource != model.Leases && c.Resource != model.Events
}

// order sorts calls that were sent at the same time.
func (c *call) order() string { return c.by.name + c.String() + string(c.Body) }

// wire is how a replica reaches one server.
type wire struct {
	*replica
	server *model.Server
}

// RoundTrip hands the request to the world, and waits for what comes back.
func (n wire) RoundTrip(from *http.Request) (*http.Response, error) {
	if said := toldBy(from); said != "" {
		return answered(from, said), nil
	}
	request, err := model.ReadRequest(from)
	if err != nil {
		return nil, err
	}
	c := &call{Request: request, by: n.replica, server: n.server, ctx: from.Context(), answer: make(chan *http.Response, 1)}
	n.world.arrive(c)
	select {
	case <-n.dead:
		return nil, errNoConnection
	default:
	}
	select {
	case response := <-c.answer:
		if response == nil {
			return nil, errNoConnection
		}
		response.Request = from
		return response, nil
	case <-c.ctx.Done():
		return nil, c.ctx.Err()
	case <-n.dead:
		return nil, errNoConnection
	}
}

// toldBy is what the host says of what it serves, or of what the controller may do, empty if it is asked
// something else. That is asked once, and waits for nobody.
func toldBy(from *http.Request) string {
	switch {
	case from.URL.Path == "/api/v1":
		return `{"kind":"APIResourceList","apiVersion":"v1","groupVersion":"v1","resources":[{"name":"configmaps","namespaced":true,"kind":"ConfigMap","verbs":["create","get","list","patch","watch"]},{"name":"secrets","namespaced":true,"kind":"Secret","verbs":["create","get","list","patch","watch"]},{"name":"pods/resize","namespaced":true,"kind":"Pod","verbs":["patch"]}]}`
	case strings.HasSuffix(from.URL.Path, "/selfsubjectaccessreviews"):
		return `{"kind":"SelfSubjectAccessReview","apiVersion":"authorization.k8s.io/v1","status":{"allowed":true}}`
	default:
		return ""
	}
}

func answered(from *http.Request, body string) *http.Response {
	return &http.Response{StatusCode: http.StatusOK, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, Request: from,
		Header: http.Header{"Content-Type": {"application/json"}}, Body: io.NopCloser(strings.NewReader(body))}
}

// arrive takes a call from any goroutine.
func (w *world) arrive(c *call) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.arrived = append(w.arrived, c)
	select {
	case w.wake <- struct{}{}:
	default:
	}
}

// collect takes the calls that came in during the last step, in an order that does
// not depend on which goroutine was first.
func (w *world) collect() {
	w.mu.Lock()
	arrived := w.arrived
	w.arrived = nil
	w.mu.Unlock()
	slices.SortStableFunc(arrived, func(a, b *call) int { return strings.Compare(a.order(), b.order()) })
	arrived = slices.DeleteFunc(arrived, func(c *call) bool { return c.by.gone() })
	w.calls = append(w.calls, arrived...)
	for _, c := range arrived {
		_, c.again = c.by.retrying[c.String()]
		delete(c.by.retrying, c.String())
		c.known, c.by.rested = c.by.view.set(), c.by.now()
		w.judge.sent(c)
	}
}

// commit lets the server carry out a call.
func (w *world) commit(c *call) {
	c.committed = true
	w.trace("%s: %s", c.by.name, c.Request)
	if c.Verb == "watch" {
		c.stream, c.err = w.newStream(c)
	} else {
		c.result, c.err = c.server.Answer(c.Request, w.past[c.Resource])
	}
	w.judge.committed(c)
}

// refuse lets the server answer an error instead of carrying out a call.
func (w *world) refuse(c *call, err error) {
	c.committed, c.err = true, err
	w.trace("%s: %s is refused: %v", c.by.name, c.Request, err)
	w.judge.committed(c)
}

// replace makes the answer to a call that was carried out an error.
func (w *world) replace(c *call, err error) { c.result, c.stream, c.err = nil, nil, err }

// reply tells the replica what came of a call.
func (w *world) reply(c *call) {
	w.forget(c)
	if c.retryAfter > 0 && c.decides() {
		c.by.retrying[c.String()] = time.Now().Add(time.Hour)
	}
	if c.err != nil {
		w.mayReadAgain(c)
	}
	w.judge.replied(c)
	if c.stream != nil {
		w.streams = append(w.streams, c.stream)
	}
	c.answer <- w.response(c) //nolint:bodyclose // The client closes it.
}

// mayReadAgain notes that what a decision has to know may be asked for again, after a pause of at most a
// second.
func (w *world) mayReadAgain(c *call) {
	if _, retried := c.by.retrying[c.String()]; !retried && c.decides() && !c.writes() {
		c.by.retrying[c.String()] = time.Now().Add(time.Second)
	}
}

// breakOff leaves the replica without an answer.
func (w *world) breakOff(c *call) {
	w.forget(c)
	w.mayReadAgain(c)
	if c.Verb == "delete" {
		delete(c.by.view.removing, w.judge.read(c).uid)
	}
	c.answer <- nil
}

func (w *world) forget(c *call) {
	w.calls = slices.DeleteFunc(w.calls, func(other *call) bool { return other == c })
}

func (w *world) response(c *call) *http.Response {
	response := &http.Response{StatusCode: http.StatusOK, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, Header: http.Header{}}
	date := time.Now().UTC().Format(http.TimeFormat)
	if c.by.timeless {
		date = ""
	}
	response.Header.Set("Date", date)
	result := c.result
	switch {
	case c.err != nil:
		status := statusOf(c.err)
		response.StatusCode, result = int(status.Code), &status
		if c.retryAfter > 0 {
			response.Header.Set("Retry-After", fmt.Sprint(c.retryAfter))
		}
	case c.stream != nil:
		response.Header, response.Body = c.server.StreamHeader(c.Request), c.stream
		response.Header.Set("Date", date)
		return response
	case c.Verb == "create":
		response.StatusCode = http.StatusCreated
	}
	body, mediaType, err := c.server.Encode(c.Request, result)
	if err != nil {
		panic(fmt.Sprintf("answering %s: %v", c.Request, err))
	}
	response.Header.Set("Content-Type", mediaType)
	response.Body = io.NopCloser(bytes.NewReader(body))
	return response
}

func statusOf(err error) metav1.Status {
	var status apierrors.APIStatus
	if errors.As(err, &status) {
		return status.Status()
	}
	return apierrors.NewInternalError(err).Status()
}
