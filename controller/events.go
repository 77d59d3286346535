// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"sync"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/tools/cache"

	v1 "statefulset.dev/api/apps/v1"
	"statefulset.dev/controller/plan"
)

// event is something to tell about a set. The reasons are those of apps/v1.
type event struct {
	kind    string
	reason  string
	message string
}

func warningEvents(warnings []plan.Warning) []event {
	events := make([]event, 0, len(warnings))
	for _, w := range warnings {
		events = append(events, event{corev1.EventTypeWarning, w.Reason, w.Message})
	}
	return events
}

// untoldEvents keeps the events of a set until its status could be written.
type untoldEvents struct {
	mu     sync.Mutex
	events map[cache.ObjectName][]event
}

func newUntoldEvents() *untoldEvents {
	return &untoldEvents{events: map[cache.ObjectName][]event{}}
}

func (u *untoldEvents) add(key cache.ObjectName, events []event) {
	if len(events) == 0 {
		return
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	u.events[key] = append(u.events[key], events...)
}

func (u *untoldEvents) take(key cache.ObjectName) []event {
	u.mu.Lock()
	defer u.mu.Unlock()
	events := u.events[key]
	delete(u.events, key)
	return events
}

// tell sends the set's events to the host.
func (t *term) tell(set *v1.StatefulSet) {
	about := &corev1.ObjectReference{
		APIVersion:      v1.SchemeGroupVersion.String(),
		Kind:            v1.Kind,
		Namespace:       set.Namespace,
		Name:            set.Name,
		UID:             set.UID,
		ResourceVersion: set.ResourceVersion,
	}
	for _, e := range t.untold.take(cache.MetaObjectToName(set)) {
		t.recorder.Event(about, e.kind, e.reason, e.message)
	}
}
