// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

//go:debug randautoseed=0

package sim

import (
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/klog/v2"

	"statefulset.dev/test/faults/internal/scenarios"
)

func TestMain(m *testing.M) {
	klog.SetLogger(klog.Logger{})
	// The usual ones wait for a time that all runs share.
	utilruntime.ErrorHandlers = nil
	debug.SetGCPercent(400)
	os.Exit(m.Run())
}

// trial is one run: a scenario, what goes wrong in it, and what is left to chance.
type trial struct {
	// name tells the trial from all others of its kind.
	name     string
	scenario scenarios.Scenario
	seed     uint64
	random   bool
	// replicas is how many controllers there are; without an election all are active.
	replicas     int
	leaderElect  bool
	noWatchLists bool
	hasty        bool
	// fault is created for each run, because it keeps state.
	fault func() fault
	// free is true if the run may end elsewhere than one without faults.
	free bool
	// mostWrites is how many writes there may be, zero for any number.
	mostWrites int
}

// fault is what goes wrong. Each of its functions may be nil.
type fault struct {
	// begin is called before anything happens.
	begin func(*world)
	// call is called before a server carries out a request, and returns true if it has
	// seen to it that this happens in another way or not at all.
	call func(*world, *call) bool
	// event is the same for an event before it is delivered.
	event func(*world, *stream) bool
}

// verdict is what came of a trial.
type verdict struct {
	broken  []string
	story   []string
	outcome string
	writes  int
	// events are how many changes each resource had in the first replica's streams.
	events map[string]int
}

// play runs a trial in a bubble of time of its own.
func (tr trial) play(t *testing.T) (v verdict) {
	synctest.Test(t, func(*testing.T) {
		w := newWorld(tr.scenario, tr.seed)
		if tr.name != peace {
			w.clocks = newRand(tr.seed + 1)
		}
		w.random, w.leaderElect, w.noWatchLists, w.user.hasty = tr.random, tr.leaderElect, tr.noWatchLists, tr.hasty
		if !tr.free {
			w.judge.reference = references.of(tr.scenario.Name)
		}
		if tr.fault != nil {
			w.fault = tr.fault()
		}
		if w.fault.begin != nil {
			w.fault.begin(w)
		}
		for range max(tr.replicas, 1) {
			w.start()
		}
		w.run()
		if tr.mostWrites > 0 && w.writes > tr.mostWrites {
			w.judge.broke("trouble does not make a controller write without end", "there were %d writes, and %d may be", w.writes, tr.mostWrites)
		}
		v = verdict{w.judge.broken, w.story, scenarios.Outcome(w.observed()), w.writes, w.judge.events}
	})
	return v
}

// peace is the name of runs without faults.
const peace = "peace"

// references are where the scenarios end without faults.
var references = reference{outcomes: map[string]string{}}

type reference struct {
	mu       sync.Mutex
	outcomes map[string]string
}

func (r *reference) of(scenario string) string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.outcomes[scenario]
}

func (r *reference) set(scenario, outcome string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.outcomes[scenario] = outcome
}

// peaceful plays a scenario without faults, and remembers where it ends.
func peaceful(t *testing.T, scenario scenarios.Scenario) verdict {
	t.Helper()
	v := trial{name: peace, scenario: scenario}.play(t)
	if len(v.broken) > 0 {
		t.Fatalf("%s, without faults: %s\n%s", scenario.Name, strings.Join(v.broken, "\n"), tail(v.story))
	}
	references.set(scenario.Name, v.outcome)
	return v
}

// judgeAll plays trials, some at the same time, and fails the test for each that
// breaks a rule. SIM_RUN names the one trial to play, with its whole story.
func judgeAll(t *testing.T, trials []trial) (violations int) {
	t.Helper()
	only := os.Getenv("SIM_RUN")
	var mu sync.Mutex
	shards := runtime.GOMAXPROCS(0)
	if only != "" {
		shards = 1
	}
	t.Run("trials", func(t *testing.T) {
		for shard := range shards {
			t.Run(strconv.Itoa(shard), func(t *testing.T) {
				t.Parallel()
				for i := shard; i < len(trials); i += shards {
					tr := trials[i]
					name := tr.scenario.Name + ": " + tr.name
					if only != "" && only != name {
						continue
					}
					v := tr.play(t)
					if only != "" {
						t.Logf("the whole story:\n%s", strings.Join(v.story, "\n"))
					}
					if len(v.broken) == 0 {
						continue
					}
					mu.Lock()
					violations++
					t.Errorf("%s\n%s\nwhat happened last:\n%s\nplay it again with\n  SIM=%s SIM_RUN=%q go test ./test/faults/sim -run '^%s$' -v",
						name, strings.Join(v.broken, "\n"), tail(v.story), os.Getenv("SIM"), name, topOf(t.Name()))
					stop := violations >= mostViolations || os.Getenv("SIM") == "sample"
					mu.Unlock()
					if stop {
						return
					}
				}
			})
		}
	})
	return violations
}

// mostViolations is after how many the rest is not played any more.
const mostViolations = 5

func topOf(test string) string {
	name, _, _ := strings.Cut(test, "/")
	return name
}

// tail is the end of a story, without the leases that are renewed all the time.
func tail(story []string) string {
	const most = 60
	story = slices.DeleteFunc(slices.Clone(story), func(line string) bool { return strings.Contains(line, " leases ") })
	return strings.Join(story[max(len(story)-most, 0):], "\n")
}

func TestScenariosWithoutFaults(t *testing.T) {
	for _, scenario := range everything() {
		t.Run(scenario.Name, func(t *testing.T) {
			v := peaceful(t, scenario)
			t.Logf("%d writes, %d steps of story, events %s\n%s", v.writes, len(v.story), fmt.Sprint(v.events), v.outcome)
		})
	}
}
