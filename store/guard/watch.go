// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package guard

import (
	"context"
	"errors"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/apiserver/pkg/storage"
)

// watchBuffer is how many proven events may wait for the receiver.
const watchBuffer = 100

// provenWatch passes on events after they were proven. If an event cannot be proven, the watch ends
// without it, and the client must start another watch.
type provenWatch struct {
	storage *provenStorage
	ctx     context.Context //nolint:containedctx // a watch lasts as long as its context
	stop    context.CancelFunc
	result  chan watch.Event
	// initial is true while events may be about objects that have existed for long.
	initial bool
}

// Stop ends the watch.
func (w *provenWatch) Stop() { w.stop() }

// ResultChan receives the proven events.
func (w *provenWatch) ResultChan() <-chan watch.Event { return w.result }

// runWhenRight waits until there is a store to watch.
func (w *provenWatch) runWhenRight(open func() (watch.Interface, error)) {
	select {
	case <-w.storage.guard.right:
	case <-w.ctx.Done():
	}
	if w.storage.guard.isLost() {
		<-w.ctx.Done()
	}
	if w.ctx.Err() != nil {
		close(w.result)
		return
	}
	inner, err := open()
	if err != nil {
		w.fail(err)
		w.stop()
		close(w.result)
		return
	}
	w.run(inner)
}

func (w *provenWatch) run(inner watch.Interface) {
	defer close(w.result)
	defer w.stop()
	defer inner.Stop()
	for {
		batch, open := w.take(inner.ResultChan())
		if len(batch) > 0 && !w.pass(batch) {
			return
		}
		if !open {
			return
		}
	}
}

// take waits for an event, and also takes the events that have already arrived after it.
func (w *provenWatch) take(from <-chan watch.Event) (batch []watch.Event, open bool) {
	select {
	case event, open := <-from:
		if !open {
			return nil, false
		}
		batch = append(batch, event)
	case <-w.ctx.Done():
		return nil, false
	}
	for len(batch) < maxAssertions {
		select {
		case event, open := <-from:
			if !open {
				return batch, false
			}
			batch = append(batch, event)
		default:
			return batch, true
		}
	}
	return batch, true
}

// pass proves events, and sends them. It reports false if the watch must end.
func (w *provenWatch) pass(batch []watch.Event) bool {
	request, err := w.question(batch)
	if err == nil {
		err = w.storage.guard.prove(w.ctx, request)
	}
	if err != nil {
		w.fail(err)
		return false
	}
	for _, event := range batch {
		if !w.send(event) {
			return false
		}
	}
	return true
}

// question is what must be true for events to be passed on.
func (w *provenWatch) question(batch []watch.Event) (question, error) {
	var request question
	for _, event := range batch {
		if event.Type == watch.Error {
			continue
		}
		version, err := w.storage.version(event.Object)
		if err != nil {
			return question{}, err
		}
		request.reached = max(request.reached, version)
		if event.Type == watch.Bookmark {
			ended, err := storage.HasInitialEventsEndBookmarkAnnotation(event.Object)
			if err != nil {
				return question{}, fmt.Errorf("reading the annotations of a bookmark: %w", err)
			}
			w.initial = w.initial && !ended
			continue
		}
		// An object that has existed for long may be older than the history that etcd keeps.
		if w.initial && event.Type == watch.Added {
			continue
		}
		key, err := w.storage.keyFunc(unwrapped(event.Object))
		if err != nil {
			return question{}, fmt.Errorf("finding the key of an object: %w", err)
		}
		request.assertions = append(request.assertions,
			keyAssertion{key: w.storage.etcdKey(key), at: version, version: version, absent: event.Type == watch.Deleted})
	}
	return request, nil
}

// unwrapped is the object of an event that may also carry the time of its arrival.
func unwrapped(obj runtime.Object) runtime.Object {
	if timed, ok := obj.(storage.WatchEventWithRecordTime); ok {
		return timed.Unwrap()
	}
	return obj
}

// fail ends the watch in a way that makes the client list again, if it must not continue from its
// last version. If the store is lost, the watch just ends.
func (w *provenWatch) fail(err error) {
	if w.ctx.Err() != nil || w.storage.guard.isLost() {
		return
	}
	var status apierrors.APIStatus
	switch {
	case errors.Is(err, errNotThere):
		status = apierrors.NewResourceExpired(err.Error())
	case !errors.As(err, &status):
		status = apierrors.NewServiceUnavailable(err.Error())
	}
	reported := status.Status()
	w.send(watch.Event{Type: watch.Error, Object: &metav1.Status{
		Status: reported.Status, Code: reported.Code, Reason: reported.Reason, Message: reported.Message, Details: reported.Details,
	}})
}

func (w *provenWatch) send(event watch.Event) bool {
	select {
	case w.result <- event:
		return true
	case <-w.ctx.Done():
		return false
	}
}
