// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package sim

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/go-logr/logr/funcr"
	"k8s.io/client-go/rest"
	"k8s.io/klog/v2"
	"k8s.io/utils/clock"

	"statefulset.dev/controller"
	"statefulset.dev/controller/objects"
	"statefulset.dev/test/faults/sim/model"
)

// replica is one process with a controller in it. One that was killed does not come
// back: a new one takes its place.
type replica struct {
	world *world
	name  string
	clock *jumpingClock
	// hostTime is what it knows of the time in the cluster.
	hostTime *controller.HostTime
	// timeless is true if no answer that it gets says what time it is.
	timeless bool
	// dead is closed when the process is killed, done when nothing of it runs.
	dead chan struct{}
	done chan struct{}
	stop context.CancelFunc
	view *view
	// writes counts those that were about to be carried out.
	writes int
	// rested is the latest that it took to be the time since it last waited for nothing.
	rested time.Time
	// retrying are requests that are sent again by themselves, after a while, and until when that is at
	// the latest.
	retrying map[string]time.Time
	// cut is true while nothing comes to it or from it.
	cut bool
	// panicked is what it has logged of its first panic, nil if there was none.
	panicked atomic.Pointer[string]
}

func (r *replica) gone() bool {
	select {
	case <-r.dead:
		return true
	default:
		return false
	}
}

// now is the latest time that a decision under way may have gone by. The clock may
// have been set back since it was made.
func (r *replica) now() time.Time {
	if now := r.hostTime.Now(); now.After(r.rested) {
		return now
	}
	return r.rested
}

// pausing reports whether a decision may be under way although no request is.
func (r *replica) pausing() bool {
	maps.DeleteFunc(r.retrying, func(_ string, until time.Time) bool { return time.Now().After(until) })
	return len(r.retrying) > 0
}

// start starts a process.
func (w *world) start() {
	w.started++
	r := &replica{
		world: w, name: fmt.Sprintf("controller-%d", w.started), clock: &jumpingClock{}, dead: make(chan struct{}), done: make(chan struct{}),
	}
	r.view, r.retrying = newView(), map[string]time.Time{}
	r.clock.off, r.timeless = w.skew(), w.timeless
	if r.timeless {
		r.clock.off = -mostSkew
	}
	r.hostTime = controller.NewHostTime(r.clock)
	config := controller.Config{Options: controller.NewOptions(), Identity: r.name, Clock: r.clock, HostTime: r.hostTime}
	config.LeaderElect = w.leaderElect
	config.ConcurrentSyncs = 2
	var err error
	hostConfig := r.restConfig(w.host)
	hostConfig.Wrap(r.hostTime.Observe)
	if config.Host, err = controller.NewHostClient(hostConfig); err == nil {
		config.Sets, err = controller.NewSetsClient(r.restConfig(w.sets))
	}
	if err == nil {
		config.Objects, err = objects.NewClients(r.restConfig(w.host))
	}
	var c *controller.Controller
	if err == nil {
		c, err = controller.New(config)
	}
	if err != nil {
		panic(fmt.Sprintf("starting a controller: %v", err))
	}
	var ctx context.Context
	ctx, r.stop = context.WithCancel(klog.NewContext(context.Background(), r.logger()))
	go func() {
		defer close(r.done)
		if err := c.Run(ctx); err != nil {
			panic(fmt.Sprintf("running a controller: %v", err))
		}
	}()
	w.replicas, w.everyone = append(w.replicas, r), append(w.everyone, r)
	w.trace("%s starts, and its clock is ahead by %s", r.name, r.clock.off)
}

// logger keeps what the process logs of a panic, and nothing else. It goes on after one, so that
// nothing else shows it but that something is late.
func (r *replica) logger() klog.Logger {
	return funcr.New(func(_, line string) {
		if strings.Contains(line, `"error"="panic: `) {
			r.panicked.CompareAndSwap(nil, &line)
		}
	}, funcr.Options{Verbosity: -1})
}

func (r *replica) restConfig(server *model.Server) *rest.Config {
	return &rest.Config{Host: "http://server", Transport: http.RoundTripper(wire{r, server})}
}

// kill ends a process at once. Of what it has sent, each request is lost or lands,
// as it happens.
func (w *world) kill(r *replica) {
	w.trace("%s is killed", r.name)
	close(r.dead)
	r.stop()
	for _, c := range slices.Clone(w.calls) {
		if c.by != r {
			continue
		}
		if !c.committed && c.Mutates() && w.rng.IntN(2) == 0 {
			w.commit(c)
		}
		w.forget(c)
	}
	w.streams = slices.DeleteFunc(w.streams, func(s *stream) bool { return s.by == r })
	w.replicas = slices.DeleteFunc(w.replicas, func(other *replica) bool { return other == r })
	w.judge.killed(r)
}

// restart kills a process and starts another in its place.
func (w *world) restart(r *replica) {
	w.kill(r)
	w.start()
}

// jumpingClock is the time of the world, and what the machine's clock is off by.
type jumpingClock struct {
	clock.RealClock
	off time.Duration
}

func (c *jumpingClock) Now() time.Time                     { return c.RealClock.Now().Add(c.off) }
func (c *jumpingClock) Since(from time.Time) time.Duration { return c.Now().Sub(from) }

func newRand(seed uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, seed)) }
