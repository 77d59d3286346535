// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package model

import (
	"fmt"
	"slices"
	"strconv"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"
)

// Stream is one watch. The caller takes its events one by one.
type Stream struct {
	server    *Server
	resource  schema.GroupVersionResource
	namespace string
	selector  labels.Selector
	// initial are the events that come first, without a change.
	initial []watch.Event
	// version is the version of the last visited change.
	version int64
	// next is the index of the next change to visit.
	next int
}

// Watch starts a watch. A watch that starts with a list and names a version allows an earlier
// state: it gets that of the given version, zero for now.
func (s *Server) Watch(r *Request, past int64) (*Stream, error) {
	selector, err := selectorOf(r.List)
	if err != nil {
		return nil, err
	}
	from, err := parseVersion(r.List.ResourceVersion)
	if err != nil {
		return nil, err
	}
	w := &Stream{server: s, resource: r.Resource, namespace: r.Namespace, selector: selector, version: from}
	switch {
	case r.List.SendInitialEvents != nil && *r.List.SendInitialEvents:
		if r.List.ResourceVersion == "" {
			past = 0
		}
		w.begin(max(from, s.at(past)), true)
	case from == 0:
		w.begin(s.at(past), false)
	case from < s.oldest[r.Resource]:
		return nil, apierrors.NewResourceExpired(fmt.Sprintf("too old resource version: %d (%d)", from, s.oldest[r.Resource]))
	}
	w.next, _ = slices.BinarySearchFunc(s.changes[r.Resource], w.version+1, func(c Change, v int64) int { return int(c.Version - v) })
	return w, nil
}

// begin makes the stream start with all objects of a version.
func (w *Stream) begin(version int64, marked bool) {
	w.version = version
	for _, object := range sorted(w.server.asOf(w.resource, version), w.namespace, w.selector) {
		w.initial = append(w.initial, watch.Event{Type: watch.Added, Object: object})
	}
	if marked {
		end := w.Bookmark()
		end.Object.(Object).SetAnnotations(map[string]string{metav1.InitialEventsAnnotationKey: "true"})
		w.initial = append(w.initial, end)
	}
}

// Bookmark returns an event that only contains the version of the stream.
func (w *Stream) Bookmark() watch.Event {
	object := w.server.kinds[w.resource].empty()
	object.GetObjectKind().SetGroupVersionKind(w.server.kinds[w.resource].gvk)
	object.SetResourceVersion(strconv.FormatInt(w.version, 10))
	return watch.Event{Type: watch.Bookmark, Object: object}
}

// Resource returns the resource of the stream.
func (w *Stream) Resource() schema.GroupVersionResource { return w.resource }

// Version returns the version that the stream has reached.
func (w *Stream) Version() int64 { return w.version }

// Beginning reports whether initial events are left.
func (w *Stream) Beginning() bool { return len(w.initial) > 0 }

// Waiting reports whether an event is available.
func (w *Stream) Waiting() bool {
	w.skip()
	return len(w.initial) > 0 || w.next < len(w.server.changes[w.resource])
}

// Next returns the next event; there must be one.
func (w *Stream) Next() watch.Event {
	if len(w.initial) > 0 {
		event := w.initial[0]
		w.initial = w.initial[1:]
		return event
	}
	w.skip()
	change := w.server.changes[w.resource][w.next]
	w.next++
	w.version = change.Version
	return w.eventOf(change)
}

// skip skips the changes that do not concern the watch.
func (w *Stream) skip() {
	changes := w.server.changes[w.resource]
	for w.next < len(changes) && w.eventOf(changes[w.next]).Type == "" {
		w.version = changes[w.next].Version
		w.next++
	}
}

// eventOf returns a change as the watch sees it: an object that no longer matches is deleted for
// the watch. The type is empty if the watch does not see the change.
func (w *Stream) eventOf(change Change) watch.Event {
	if w.namespace != "" && change.Object.GetNamespace() != w.namespace {
		return watch.Event{}
	}
	before := change.Before != nil && w.selector.Matches(labels.Set(change.Before.GetLabels()))
	after := change.Type != watch.Deleted && w.selector.Matches(labels.Set(change.Object.GetLabels()))
	switch {
	case before && after:
		return watch.Event{Type: watch.Modified, Object: change.Object}
	case after:
		return watch.Event{Type: watch.Added, Object: change.Object}
	case before:
		last := change.Before.DeepCopyObject().(Object)
		last.SetResourceVersion(strconv.FormatInt(change.Version, 10))
		return watch.Event{Type: watch.Deleted, Object: last}
	default:
		return watch.Event{}
	}
}

// Forget makes the server forget the changes up to now, so that a watch cannot continue from an
// earlier version.
func (s *Server) Forget(resource schema.GroupVersionResource) { s.oldest[resource] = s.version }
