// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package watches

import (
	"fmt"
	"slices"
	"testing"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"

	"statefulset.dev/test/faults/store/history"
)

func version(key, color string, revision int64) history.Version {
	write := fmt.Sprintf("w%d", revision)
	return history.Version{Key: key, UID: types.UID("of " + key), Write: write, Color: color, Revision: revision, Digest: "digest of " + write}
}

// at is the version at a later revision, as a deletion shows it.
func at(v history.Version, revision int64) history.Version {
	v.Revision = revision
	return v
}

// truth is a red object that turns blue, red again, and is deleted, beside one that
// stays blue.
func truth() *history.Truth {
	return history.NewTruth([]history.Change{
		{Version: version("a", "red", 2)},
		{Version: version("b", "blue", 3)},
		{Version: version("a", "red", 5)},
		{Version: version("a", "blue", 6)},
		{Version: version("a", "red", 8)},
		{Version: version("b", "blue", 9)},
		{Version: history.Version{Key: "a", Revision: 11}, Deleted: true},
		{Version: version("b", "blue", 12)},
	})
}

// all is what a client that asks for everything sees in two requests.
func all() Stream {
	return Stream{Name: "all", Requests: []Request{
		{From: 1, Events: []Event{
			{watch.Added, version("a", "red", 2)},
			{watch.Added, version("b", "blue", 3)},
			{watch.Modified, version("a", "red", 5)},
			{watch.Bookmark, history.Version{Revision: 5}},
			{watch.Modified, version("a", "blue", 6)},
		}},
		{From: 6, Events: []Event{
			{watch.Modified, version("a", "red", 8)},
			{watch.Modified, version("b", "blue", 9)},
			{watch.Deleted, at(version("a", "red", 8), 11)},
			{watch.Modified, version("b", "blue", 12)},
		}},
	}}
}

// red is what a client that asks for red objects sees.
func red() Stream {
	return Stream{Name: "red", Filter: Filter{Color: "red"}, Requests: []Request{{From: 1, Events: []Event{
		{watch.Added, version("a", "red", 2)},
		{watch.Modified, version("a", "red", 5)},
		{watch.Deleted, at(version("a", "red", 5), 6)},
		{watch.Added, version("a", "red", 8)},
		{watch.Deleted, at(version("a", "red", 8), 11)},
	}}}}
}

func TestEachRuleFindsWhatBreaksIt(t *testing.T) {
	tests := map[string]struct {
		stream Stream
		change func(first, second *Request)
		want   []string
	}{
		"a watch of everything as it should be": {stream: all()},
		"a watch by label as it should be":      {stream: red()},
		"a watch by name as it should be": {stream: Stream{Filter: Filter{Key: "b"}, Requests: []Request{{From: 3, Events: []Event{
			{watch.Modified, version("b", "blue", 9)},
		}}}}},
		"an object of another label": {stream: red(), want: []string{"filtered", "atomic"}, change: func(first, _ *Request) {
			first.Events = slices.Insert(first.Events, 1, Event{watch.Added, version("b", "blue", 3)})
		}},
		"a bookmark that comes too early": {stream: all(), want: []string{"bookmarkable"}, change: func(first, _ *Request) {
			first.Events[3].Revision = 6
		}},
		"a bookmark that goes back": {stream: all(), want: []string{"bookmarkable"}, change: func(first, _ *Request) {
			first.Events[3].Revision = 3
		}},
		"two events in the wrong order": {stream: all(), want: []string{"bookmarkable", "ordered", "resumable"}, change: func(first, _ *Request) {
			first.Events[0], first.Events[1] = first.Events[1], first.Events[0]
			first.Events = slices.Insert(first.Events, 2, Event{watch.Bookmark, history.Version{Revision: 3}})
			first.Events[1], first.Events[2] = first.Events[2], first.Events[1]
		}},
		"an event that comes twice": {stream: all(), want: []string{"unique"}, change: func(first, _ *Request) {
			first.Events = slices.Insert(first.Events, 1, first.Events[0])
		}},
		"an event that comes again after reconnecting": {
			stream: all(), want: []string{"ordered", "unique"}, change: func(first, second *Request) {
				second.Events = slices.Insert(second.Events, 0, first.Events[4])
				second.Events[0].Revision = 6
				second.From = 7
			}},
		"half a change": {stream: all(), want: []string{"atomic"}, change: func(first, _ *Request) {
			first.Events[1].Color = "red"
		}},
		"a change that never was": {stream: all(), want: []string{"atomic"}, change: func(_, second *Request) {
			second.Events = slices.Insert(second.Events, 2, Event{watch.Modified, version("b", "blue", 10)})
		}},
		"an event that is missing": {stream: all(), want: []string{"reliable"}, change: func(_, second *Request) {
			second.Events = slices.Delete(second.Events, 1, 2)
		}},
		"a first event that is missing": {stream: all(), want: []string{"resumable"}, change: func(_, second *Request) {
			second.Events = slices.Delete(second.Events, 0, 1)
		}},
		"a deletion that shows an older object": {stream: all(), want: []string{"previous"}, change: func(_, second *Request) {
			second.Events[2].Version = at(version("a", "blue", 6), 11)
		}},
		"an object that is added twice": {stream: all(), want: []string{"created"}, change: func(first, _ *Request) {
			first.Events[2].Type = watch.Added
		}},
		"an object that returns into sight as modified": {stream: red(), want: []string{"created"}, change: func(first, _ *Request) {
			first.Events[3].Type = watch.Modified
		}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			if test.change != nil {
				test.change(&test.stream.Requests[0], &test.stream.Requests[len(test.stream.Requests)-1])
			}
			want := expected(truth(), test.stream.Filter)
			var broken []string
			for _, rule := range rules() {
				if len(rule.check(test.stream, want)) > 0 {
					broken = append(broken, rule.name)
				}
			}
			if !slices.Equal(broken, test.want) {
				t.Errorf("broken rules: got %q, want %q; %q", broken, test.want, Check(test.stream, truth()))
			}
		})
	}
}
