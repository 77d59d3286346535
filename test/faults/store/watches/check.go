// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package watches

import (
	"cmp"
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/watch"

	"statefulset.dev/test/faults/store/history"
)

// rule compares a stream with the events that it should have contained. It returns one sentence for
// each difference.
type rule struct {
	name  string
	check func(stream Stream, want []Event) []string
}

func rules() []rule {
	return []rule{
		{"filtered", filtered},
		{"bookmarkable", bookmarkable},
		{"ordered", ordered},
		{"unique", unique},
		{"atomic", atomic},
		{"reliable", reliable},
		{"resumable", resumable},
		{"previous", previous},
		{"created", created},
	}
}

// Check applies all rules to a stream.
func Check(stream Stream, truth *history.Truth) []string {
	want := expected(truth, stream.Filter)
	var found []string
	for _, rule := range rules() {
		for _, difference := range rule.check(stream, want) {
			found = append(found, fmt.Sprintf("watch %s is not %s: %s", stream.Name, rule.name, difference))
		}
	}
	return found
}

func filtered(stream Stream, _ []Event) []string {
	var found []string
	for event := range stream.events() {
		if !stream.Filter.matches(event.Version) {
			found = append(found, fmt.Sprintf("%v does not match %+v", event, stream.Filter))
		}
	}
	return found
}

func bookmarkable(stream Stream, want []Event) []string {
	var found []string
	for _, request := range stream.Requests {
		last, bookmark := request.From, int64(0)
		for _, event := range request.Events {
			if event.Type != watch.Bookmark {
				if event.Revision <= bookmark {
					found = append(found, fmt.Sprintf("%v came after a bookmark at revision %d", event, bookmark))
				}
				last = max(last, event.Revision)
				continue
			}
			if event.Revision < last {
				found = append(found, fmt.Sprintf("%v came after an event of revision %d", event, last))
			}
			for _, missing := range between(want, last, event.Revision) {
				found = append(found, fmt.Sprintf("%v came before %v", event, missing))
			}
			last, bookmark = max(last, event.Revision), event.Revision
		}
	}
	return found
}

func ordered(stream Stream, _ []Event) []string {
	var found []string
	for _, request := range stream.Requests {
		last := request.From
		for _, event := range request.Events {
			if event.Type != watch.Bookmark && event.Revision < last {
				found = append(found, fmt.Sprintf("%v came after revision %d", event, last))
			}
			last = event.Revision
		}
	}
	return found
}

func unique(stream Stream, _ []Event) []string {
	type event struct {
		key      string
		revision int64
	}
	var found []string
	seen := map[event]bool{}
	for e := range stream.events() {
		id := event{e.Key, e.Revision}
		if seen[id] {
			found = append(found, fmt.Sprintf("%v came twice", e))
		}
		seen[id] = true
	}
	return found
}

func atomic(stream Stream, want []Event) []string {
	var found []string
	for event := range stream.events() {
		at := between(want, event.Revision-1, event.Revision)
		if len(at) != 1 || at[0].Key != event.Key || event.Type != watch.Deleted && at[0].Version != event.Version {
			found = append(found, fmt.Sprintf("got %v (%+v), but the storage changed %v", event, event.Version, at))
		}
	}
	return found
}

func reliable(stream Stream, want []Event) []string {
	var found []string
	for _, request := range stream.Requests {
		last := int64(0)
		for _, event := range request.Events {
			if event.Type == watch.Bookmark {
				continue
			}
			if last > 0 {
				for _, missing := range between(want, last, event.Revision-1) {
					found = append(found, fmt.Sprintf("%v is missing before %v", missing, event))
				}
			}
			last = max(last, event.Revision)
		}
	}
	return found
}

func resumable(stream Stream, want []Event) []string {
	var found []string
	for _, request := range stream.Requests {
		for _, event := range request.Events {
			if event.Type == watch.Bookmark {
				continue
			}
			for _, missing := range between(want, request.From, event.Revision-1) {
				found = append(found, fmt.Sprintf("a request from revision %d began with %v, not with %v", request.From, event, missing))
			}
			break
		}
	}
	return found
}

func previous(stream Stream, want []Event) []string {
	var found []string
	for event := range stream.events() {
		at := between(want, event.Revision-1, event.Revision)
		if event.Type == watch.Deleted && len(at) == 1 && at[0].Version != event.Version {
			found = append(found, fmt.Sprintf("a deletion shows %+v, but the version before it was %+v", event.Version, at[0].Version))
		}
	}
	return found
}

func created(stream Stream, want []Event) []string {
	var found []string
	for event := range stream.events() {
		at := between(want, event.Revision-1, event.Revision)
		if len(at) == 1 && at[0].Type != event.Type {
			found = append(found, fmt.Sprintf("got %v, want type %s", event, at[0].Type))
		}
	}
	return found
}

// events returns all events except bookmarks.
func (s Stream) events() func(yield func(Event) bool) {
	return func(yield func(Event) bool) {
		for _, request := range s.Requests {
			for _, event := range request.Events {
				if event.Type != watch.Bookmark && !yield(event) {
					return
				}
			}
		}
	}
}

// between returns the events after one revision up to another.
func between(events []Event, after, upTo int64) []Event {
	from := position(events, after+1)
	return events[from:max(from, position(events, upTo+1))]
}

// position returns the index of the first event at or after a revision.
func position(events []Event, revision int64) int {
	i, _ := slices.BinarySearchFunc(events, revision, func(e Event, revision int64) int { return cmp.Compare(e.Revision, revision) })
	return i
}
