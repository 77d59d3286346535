// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package sim

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"statefulset.dev/test/faults/internal/scenarios"
	"statefulset.dev/test/faults/sim/model"
	"statefulset.dev/test/harness"
)

// TestSoak mixes all faults by chance, for two minutes of each run; then the set has
// to become what it should be. Of two controllers the lease lets one be active. SEEDS says how many runs there are, and SEED with
// which they begin.
func TestSoak(t *testing.T) {
	// A claim deleted by hand may get a member stuck: see atEveryEvent.
	all := slices.DeleteFunc(everything(), func(s scenarios.Scenario) bool { return s.Name == lostClaim().Name })
	for _, scenario := range all {
		peaceful(t, scenario)
	}
	first, seeds := harness.Number(t, "SEED", 1), harness.Number(t, "SEEDS", fullOr(2000, 45))
	trials := make([]trial, 0, seeds)
	for seed := first; seed < first+seeds; seed++ {
		trials = append(trials, soaking(all[seed%len(all)], seed))
	}
	report(t, "soak", trials, fmt.Sprintf("all of these mixed by chance, seeds %d to %d", first, first+seeds-1))
}

func soaking(scenario scenarios.Scenario, seed int) trial {
	rng := newRand(uint64(seed))
	tr := trial{
		name: fmt.Sprintf("seed %d", seed), scenario: scenario, seed: uint64(seed), random: true,
		replicas: 1 + rng.IntN(2), noWatchLists: rng.IntN(2) == 0, hasty: rng.IntN(3) == 0 && !scenario.MayGetStuck(),
	}
	tr.free, tr.leaderElect = tr.hasty, tr.replicas > 1
	tr.fault = func() fault { return newSoak(rand.New(rand.NewPCG(uint64(seed), 1))).fault() }
	return tr
}

// troubled is for how long things go wrong.
const troubled = 2 * time.Minute

// soak decides what goes wrong when.
type soak struct {
	rng *rand.Rand
	// perCall and perEvent are how many of a thousand calls and events go wrong.
	perCall, perEvent int
}

func newSoak(rng *rand.Rand) *soak { return &soak{rng, rng.IntN(80), rng.IntN(60)} }

func (s *soak) fault() fault {
	return fault{
		call: func(w *world, c *call) bool {
			return s.happens(w, s.perCall) && c.Verb != "watch" && c.Resource != model.Events && s.trouble(w, c)
		},
		event: func(w *world, stream *stream) bool {
			if !s.happens(w, s.perEvent) {
				return false
			}
			kinds := staleness
			if s.rng.IntN(2) == 0 {
				kinds = drops
			}
			kind := s.choose(sortedKeys(kinds))
			w.trace("now: %s of %s", kind, stream.Resource().Resource)
			return kinds[kind](w, stream)
		},
	}
}

func (s *soak) happens(w *world, perMille int) bool {
	return time.Since(w.began) < troubled && s.rng.IntN(1000) < perMille
}

// trouble does something around a call.
func (s *soak) trouble(w *world, c *call) bool {
	switch n := s.rng.IntN(10); {
	case n < 3:
		how := []crash{beforeWrite, insideWrite, afterWrite, lateWrite}[s.rng.IntN(4)]
		w.trace("now: crash %s", how)
		if !c.writes() {
			how = beforeWrite
		}
		w.crash(how, c)
		return true
	case n < 4:
		if former := c.by; !slices.Contains(w.replicas, former) || former.cut {
			return false
		}
		c.by.cut = true
		former := c.by
		w.trace("now: %s is cut off", former.name)
		w.after(time.Duration(s.rng.IntN(25))*time.Second, func() { former.cut = false })
		return true
	case n < 5:
		was := c.by.clock.off
		c.by.clock.off = was + time.Duration(s.rng.IntN(120)-60)*time.Second
		by := c.by
		w.trace("now: clock is off by %s", by.clock.off)
		w.after(time.Minute, func() { by.clock.off = was })
		return false
	default:
		kind := s.choose(sortedKeys(refusals))
		if (kind == "403" || kind == "409") && !c.Mutates() {
			return false
		}
		w.trace("now: %s for %s", kind, c.Request)
		refusals[kind](w, c)
		return true
	}
}

func (s *soak) choose(from []string) string { return from[s.rng.IntN(len(from))] }
