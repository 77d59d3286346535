// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package watches

import (
	"fmt"

	"k8s.io/apimachinery/pkg/watch"

	"statefulset.dev/test/faults/store/history"
)

// Filter is what a client asks to be told of. An empty field stands for all.
type Filter struct{ Key, Color string }

func (f Filter) matches(v history.Version) bool {
	return (f.Key == "" || f.Key == v.Key) && (f.Color == "" || f.Color == v.Color)
}

// Event is one event of a watch. Of a bookmark, only the revision counts.
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

// Request is one watch request and all that was told before it ended.
type Request struct {
	// From is the resource version that it asked to begin after.
	From   int64
	Events []Event
}

// Stream is what one client saw.
type Stream struct {
	// Name tells the client from others in messages.
	Name     string
	Filter   Filter
	Requests []Request
}

// expected is all that a watch with this filter has to tell, in its order.
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
			// An object that leaves the sight of a client is shown as it was in it.
			gone := *change.Previous
			gone.Revision = change.Revision
			events = append(events, Event{watch.Deleted, gone})
		}
	}
	return events
}
