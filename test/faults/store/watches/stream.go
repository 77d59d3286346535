// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package watches

import (
	"fmt"

	"k8s.io/apimachinery/pkg/watch"

	"statefulset.dev/test/faults/store/history"
)

// Filter selects the events of a client. An empty field matches everything.
type Filter struct{ Key, Color string }

func (f Filter) matches(v history.Version) bool {
	return (f.Key == "" || f.Key == v.Key) && (f.Color == "" || f.Color == v.Color)
}

// Event is one event of a watch. A bookmark only has a revision.
type Event struct {
	Type watch.EventType
	history.Version
}

func (e Event) String() string {
	if e.Type == watch.Bookmark {
		return fmt.Sprintf("bookmark at revision %d", e.Revision)
	}
	return fmt.Sprintf("%s of %s by write %s at revision %d", e.Type, e.Key, e.Write, e.Revision)
}

// Request is one watch request and all its events.
type Request struct {
	// From is the resource version after which it begins.
	From   int64
	Events []Event
}

// Stream is what one client saw.
type Stream struct {
	// Name distinguishes the client from others in messages.
	Name     string
	Filter   Filter
	Requests []Request
}

// expected returns all events of a watch with this filter, in order.
func expected(truth *history.Truth, filter Filter) []Event {
	var events []Event
	for _, change := range truth.Changes {
		before := change.Previous != nil && filter.matches(*change.Previous)
		after := !change.Deleted && filter.matches(change.Version)
		switch {
		case after && before:
			events = append(events, Event{watch.Modified, change.Version})
		case after:
			events = append(events, Event{watch.Added, change.Version})
		case before:
			// An object that no longer matches is shown in its last matching version.
			gone := *change.Previous
			gone.Revision = change.Revision
			events = append(events, Event{watch.Deleted, gone})
		}
	}
	return events
}
