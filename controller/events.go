// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/tools/cache"

	v1 "statefulset.dev/api/apps/v1"
	"statefulset.dev/controller/plan"
)

// event is an event of a set, before it is emitted. The reasons are those of apps/v1. The message
// is text, object and rest, one after the other. Events that differ only in the name of the object
// are emitted as one.
type event struct {
	eventType, reason string
	text              string
	// objectKind and object name what the event is about, empty if it is the set.
	objectKind, object string
	rest               string
}

// topic is what events have in common that are emitted as one.
func (e event) topic() event {
	e.object = ""
	return e
}

// mostNames is how many objects one event names.
const mostNames = 10

// summarized joins the events of one topic. The topics keep their order.
func summarized(events []event) []event {
	objects := map[event][]string{}
	var topics []event
	for _, e := range events {
		topic := e.topic()
		if _, known := objects[topic]; !known {
			topics = append(topics, topic)
		}
		objects[topic] = append(objects[topic], e.object)
	}
	for i, topic := range topics {
		topics[i].object = listed(topic.objectKind, objects[topic])
	}
	return topics
}

// listed names objects of a kind, low ordinals first.
func listed(kind string, names []string) string {
	if kind == "" {
		return ""
	}
	slices.SortFunc(names, func(a, b string) int { return cmp.Or(cmp.Compare(len(a), len(b)), cmp.Compare(a, b)) })
	names = slices.Compact(names)
	var parts []string
	for _, name := range names[:min(len(names), mostNames)] {
		parts = append(parts, fmt.Sprintf("%s %q", kind, name))
	}
	text := strings.Join(parts, ", ")
	if more := len(names) - mostNames; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}

func (e event) message() string { return e.text + e.object + e.rest }

// pendingEvents are the events of a set that are emitted once its status is up to date, and the
// warnings that were emitted already. A warning applies until the planner no longer returns it, and
// to emit it on every sync would be noise.
type pendingEvents struct {
	events   []event
	warnings []plan.Warning
}

// addEvents keeps events, and adds those of warnings that the previous sync did not have.
func (m *setState) addEvents(warnings []plan.Warning, events []event) {
	m.mu.Lock()
	defer m.mu.Unlock()
	p := &m.pending
	for _, w := range warnings {
		if !slices.Contains(p.warnings, w) {
			p.events = append(p.events, event{eventType: corev1.EventTypeWarning, reason: w.Reason, text: w.Message})
		}
	}
	p.warnings = warnings
	p.events = append(p.events, events...)
}

func (m *setState) takeEvents() []event {
	m.mu.Lock()
	defer m.mu.Unlock()
	events := m.pending.events
	m.pending.events = nil
	return events
}

// emitEvents emits the pending events of a set, and some more.
func (t *term) emitEvents(set *v1.StatefulSet, more ...event) {
	about := &corev1.ObjectReference{
		APIVersion:      v1.SchemeGroupVersion.String(),
		Kind:            v1.Kind,
		Namespace:       set.Namespace,
		Name:            set.Name,
		UID:             set.UID,
		ResourceVersion: set.ResourceVersion,
	}
	for _, e := range summarized(append(t.states.getOrCreate(cache.MetaObjectToName(set)).takeEvents(), more...)) {
		t.recorder.Event(about, e.eventType, e.reason, e.message())
	}
}
