// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package sim

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing/synctest"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"statefulset.dev/test/faults/internal/scenarios"
	"statefulset.dev/test/faults/sim/model"
)

// world is a cluster, everything that lives in it, and the one who decides what
// happens next. Between two of its steps everything runs until it waits, so that
// nothing happens at the same time as anything else.
type world struct {
	host, sets *model.Server
	// replicas are those that live, everyone also those that were killed.
	replicas, everyone []*replica
	calls              []*call
	streams            []*stream
	agent              *agent
	collector          *collector
	user               *user
	judge              *judge
	fault              fault

	// rng decides what is left to chance; random makes the order of things one of it.
	rng    *rand.Rand
	random bool
	// clocks decides how wrong the clocks of replicas are, nil if none is.
	clocks *rand.Rand
	// timeless is true if the next replica is not told the time.
	timeless bool
	// leaderElect makes the replicas agree on one of them.
	leaderElect bool
	// noWatchLists is true for a server that only lists in the old way.
	noWatchLists bool
	// past is the version at which the cache of a resource stands still.
	past map[schema.GroupVersionResource]int64

	// busy is how many steps there were since time has last passed.
	step, busy int
	writes     int
	started    int
	uids       int
	began      time.Time
	// touched is when the last write of a controller was carried out.
	touched time.Time
	story   []string

	mu      sync.Mutex
	arrived []*call
	wake    chan struct{}
	// appointments are what is going to happen at a time.
	appointments []*appointment
}

type appointment struct {
	at time.Time
	do func()
}

const (
	// quiet is for how long nothing must be written at the end.
	quiet = 60 * time.Second
	// patience is how long a run may take until its set is as it should be.
	patience = 15 * time.Minute
	// lastWords is more than the senders of events take to give up.
	lastWords = 10 * time.Minute
	// mostSteps is how many steps a run may take.
	mostSteps = 10_000
)

func newWorld(scenario scenarios.Scenario, seed uint64) *world {
	w := &world{
		rng: newRand(seed), past: map[schema.GroupVersionResource]int64{}, wake: make(chan struct{}, 1), began: time.Now(), touched: time.Now(),
	}
	w.host, w.sets = model.NewHost(time.Now, w.newUID), model.NewSets(time.Now, w.newUID)
	w.agent, w.collector, w.user, w.judge = newAgent(w), &collector{world: w}, newUser(w, scenario), newJudge(w)
	w.host.Changed, w.sets.Changed = w.changed, w.changed
	return w
}

func (w *world) newUID() types.UID {
	w.uids++
	return types.UID(fmt.Sprintf("00000000-0000-0000-0000-%012d", w.uids))
}

// server is the one that has a resource.
func (w *world) server(resource schema.GroupVersionResource) *model.Server {
	if resource == model.Sets {
		return w.sets
	}
	return w.host
}

func (w *world) changed(resource schema.GroupVersionResource, change model.Change) {
	w.trace("   %s %s %s at %d", strings.ToLower(string(change.Type)), resource.Resource, change.Object.GetName(), change.Version)
	w.user.dirty = true
	w.agent.changed(resource, change)
	w.judge.changed(change)
}

// after makes something happen in a while.
func (w *world) after(delay time.Duration, do func()) {
	w.appointments = append(w.appointments, &appointment{time.Now().Add(delay), do})
}

// trace notes what happens.
func (w *world) trace(format string, args ...any) {
	w.story = append(w.story, fmt.Sprintf("%5d %9s ", w.step, time.Since(w.began).Round(time.Millisecond))+fmt.Sprintf(format, args...))
}

// run plays the scenario to its end.
func (w *world) run() {
	for len(w.judge.broken) == 0 && !w.finished() {
		synctest.Wait()
		w.collect()
		w.judge.settled()
		w.clean()
		w.step++
		w.busy++
		if w.step > mostSteps || time.Since(w.began) > patience {
			w.judge.broke("the end is reached in time", "after %d steps and %s the user still waits: %s", w.step, time.Since(w.began),
				w.user.waitsFor())
			break
		}
		if !w.act() {
			w.sleep()
		}
	}
	w.judge.ended()
	w.end()
}

// finished reports whether the user is content and the controllers have come to rest.
func (w *world) finished() bool {
	return w.user.done() && len(w.appointments) == 0 && time.Since(w.touched) > quiet && time.Since(w.user.last) > quiet
}

// act does one of the things that could happen now, and reports whether there was any.
func (w *world) act() bool {
	choices := w.choices()
	if len(choices) == 0 {
		return false
	}
	if w.random {
		choices[w.pick(choices)].do()
	} else {
		choices[0].do()
	}
	return true
}

// sleep lets time pass until something could happen.
func (w *world) sleep() {
	next := time.Now().Add(quiet)
	for _, at := range append(w.agent.dues(), w.collector.dues()...) {
		next = earlier(next, at)
	}
	for _, a := range w.appointments {
		next = earlier(next, a.at)
	}
	select {
	case <-w.wake:
	case <-time.After(max(time.Until(next), time.Millisecond)):
		w.busy = 0
	}
}

func earlier(a, b time.Time) time.Time {
	if b.Before(a) {
		return b
	}
	return a
}

// clean forgets what nobody waits for.
func (w *world) clean() {
	w.streams = slices.DeleteFunc(w.streams, (*stream).over)
	w.calls = slices.DeleteFunc(w.calls, func(c *call) bool { return c.ctx.Err() != nil && (c.committed || !c.Mutates()) })
}

// end stops every process and waits until nothing of them runs.
func (w *world) end() {
	for _, r := range slices.Clone(w.replicas) {
		w.kill(r)
	}
	for _, r := range w.everyone {
		<-r.done
	}
	time.Sleep(lastWords)
}
