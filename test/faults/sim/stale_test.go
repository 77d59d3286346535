// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package sim

import (
	"fmt"
	"net/http"
	"slices"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"

	"statefulset.dev/test/faults/internal/scenarios"
	"statefulset.dev/test/faults/sim/model"
)

// atEvent is something that happens to a stream before an event is delivered. It
// returns false if the event is to be delivered all the same.
type atEvent func(*world, *stream) bool

// staleness are the ways to make a controller decide on an old view.
var staleness = map[string]atEvent{
	"freeze":  func(w *world, s *stream) bool { return w.hold(s, 20*time.Second) },
	"relist":  relist,
	"restart": restartOnOldCache,
	"reorder": overtake,
}

// drops are the ways in which a watch goes wrong.
var drops = map[string]atEvent{
	"close": func(w *world, s *stream) bool { w.hangUp(s); return true },
	"gone": func(w *world, s *stream) bool {
		w.send(s, watch.Event{Type: watch.Error, Object: &metav1.Status{
			Status: metav1.StatusFailure, Code: http.StatusGone, Reason: metav1.StatusReasonExpired, Message: "too old resource version",
		}})
		w.hangUp(s)
		return true
	},
	"stall": func(w *world, s *stream) bool {
		s.held = true
		w.after(time.Minute, func() { w.hangUpIfOpen(s) })
		return true
	},
	"duplicate": func(w *world, s *stream) bool {
		w.send(s, w.deliver(s))
		return true
	},
	"bookmark": func(w *world, s *stream) bool {
		event := s.Bookmark()
		w.judge.delivered(s, event, false)
		w.send(s, event)
		return true
	},
}

// watched are the resources that a controller watches.
var watched = []schema.GroupVersionResource{model.Sets, model.Pods, model.Claims, model.Revisions, model.ConfigMaps}

func TestStaleViewsAtEveryEvent(t *testing.T) {
	report(t, "stale views", atEveryEvent(t, "stale", staleness, fullOr(1, 25)),
		"stream of sets, pods, claims, revisions or objects frozen, dropped and relisted, overtaken, or restarted on an old cache at event k")
}

func TestWatchesThatGoWrongAtEveryEvent(t *testing.T) {
	report(t, "watch drops", atEveryEvent(t, "watch", drops, fullOr(2, 43)),
		"watch closed, gone, stalled, with a duplicate, or with a bookmark only at event k")
}

func atEveryEvent(t *testing.T, what string, kinds map[string]atEvent, every int) []trial {
	n := 0
	return eachScenario(t, func(scenario scenarios.Scenario, peace verdict) (all []trial) {
		for _, resource := range watched {
			if scenario.Name == lostClaim().Name && resource == model.Claims {
				// A controller that does not know that a claim is going creates a pod on it.
				// Then the claim waits for the pod and the pod for the claim, until
				// somebody deletes the pod. That is a known limit.
				continue
			}
			for k := 1; k <= peace.events[resource.Resource]; k++ {
				for _, kind := range sortedKeys(kinds) {
					if n++; n%every != 0 && (kind != "freeze" || resource != model.Sets || !deletes(scenario)) {
						continue
					}
					all = append(all, trial{
						name: fmt.Sprintf("%s %s at event %d of %s", what, kind, k, resource.Resource), scenario: scenario, seed: uint64(n),
						noWatchLists: n/every%2 == 1, fault: onceAt(resource, k, kinds[kind]),
					})
				}
			}
		}
		return all
	})
}

// deletes reports whether the set of a scenario is deleted. What a controller does that
// does not know of it is always tried.
func deletes(scenario scenarios.Scenario) bool {
	return slices.ContainsFunc(scenario.Steps, func(step scenarios.Step) bool { _, ok := step.(scenarios.Delete); return ok })
}

// onceAt makes something happen before event k of a resource.
func onceAt(resource schema.GroupVersionResource, k int, happens atEvent) func() fault {
	return func() fault {
		n, done := 0, false
		return fault{event: func(w *world, s *stream) bool {
			if done || s.Resource() != resource {
				return false
			}
			if n++; n < k {
				return false
			}
			done = true
			w.trace("now: fault at event %d of %s", k, resource.Resource)
			return happens(w, s)
		}}
	}
}

// hold keeps back what comes next on a stream.
func (w *world) hold(s *stream, long time.Duration) bool {
	s.held = true
	w.after(long, func() { s.held = false })
	return true
}

// relist drops the stream, and makes the server forget what would have come next.
func relist(w *world, s *stream) bool {
	w.hangUp(s)
	s.server.Forget(s.Resource())
	return true
}

// restartOnOldCache restarts the controller while the server's cache of a resource
// stands still.
func restartOnOldCache(w *world, s *stream) bool {
	resource := s.Resource()
	w.past[resource] = s.Version()
	w.restart(s.by)
	w.after(20*time.Second, func() {
		delete(w.past, resource)
		for _, s := range w.streams {
			if s.Resource() == resource {
				s.held = false
			}
		}
	})
	return true
}

// overtake lets the other streams go first for a while.
func overtake(w *world, s *stream) bool { return w.hold(s, 450*time.Millisecond) }

func (w *world) hangUpIfOpen(s *stream) {
	if slices.Contains(w.streams, s) {
		w.hangUp(s)
	}
}
