// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package sim

import (
	"errors"
	"fmt"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"statefulset.dev/test/faults/internal/scenarios"
	"statefulset.dev/test/faults/sim/model"
)

// refusals are the ways in which a request fails.
var refusals = map[string]func(*world, *call){
	"403": func(w *world, c *call) {
		w.refuse(c, apierrors.NewForbidden(c.Resource.GroupResource(), c.Name, errors.New("a fault")))
	},
	"409": func(w *world, c *call) {
		w.refuse(c, apierrors.NewConflict(c.Resource.GroupResource(), c.Name, errors.New("a fault")))
	},
	"429": func(w *world, c *call) {
		c.retryAfter = 1
		w.refuse(c, apierrors.NewTooManyRequests("a fault", 1))
	},
	"500": func(w *world, c *call) { w.refuse(c, apierrors.NewInternalError(errors.New("a fault"))) },
	"503": func(w *world, c *call) { w.refuse(c, apierrors.NewServiceUnavailable("a fault")) },
	"timeout after the commit": func(w *world, c *call) {
		w.commit(c)
		w.replace(c, apierrors.NewTimeoutError("a fault", 0))
	},
	"lost": func(w *world, c *call) { w.breakOff(c) },
}

// TestErrorsOfTheServers lets a share of all requests fail.
func TestErrorsOfTheServers(t *testing.T) {
	shares := map[int]bool{1: full(), 5: full(), 20: true, 50: full()}
	n := 0
	trials := eachScenario(t, func(scenario scenarios.Scenario, peace verdict) (all []trial) {
		for _, kind := range sortedKeys(refusals) {
			for _, percent := range []int{1, 5, 20, 50} {
				if n++; !shares[percent] || !full() && n%3 != 0 {
					continue
				}
				tr := trial{name: fmt.Sprintf("%d%% %s", percent, kind), scenario: scenario, seed: uint64(n), fault: failing(percent, kind)}
				if percent <= 20 {
					tr.mostWrites = 3*peace.writes + 20
				}
				all = append(all, tr)
			}
		}
		return all
	})
	report(t, "API errors", trials, "403, 409, 429, 500, 503, commit-then-timeout and lost requests at 1, 5, 20 and 50 percent")
}

func failing(percent int, kind string) func() fault {
	return func() fault {
		return fault{call: func(w *world, c *call) bool {
			// An object is changed by several requests, of which the first only reads.
			reads := c.Verb == "get" && c.Resource == model.ConfigMaps && percent > 20
			if c.Verb == "watch" || c.Resource == model.Events || reads || w.rng.IntN(100) >= percent ||
				(kind == "403" || kind == "409") && !c.Mutates() {
				return false
			}
			w.trace("now: %s for %s", kind, c.Request)
			refusals[kind](w, c)
			return true
		}}
	}
}

// TestSeveralActiveControllers lets two and three controllers work at the same time,
// as if there were no lease.
func TestSeveralActiveControllers(t *testing.T) {
	seeds := fullOr(20, 1)
	trials := eachScenario(t, func(scenario scenarios.Scenario, _ verdict) (all []trial) {
		for seed := range seeds {
			all = append(all, trial{
				name: fmt.Sprintf("%d controllers, seed %d", 2+seed%2, seed), scenario: scenario, seed: uint64(seed),
				random: true, replicas: 2 + seed%2,
			})
		}
		return all
	})
	report(t, "several active controllers", trials, "two and three controllers with the lease ignored, everything in random order")
}

// TestClockJumps lets the controller's clock jump while members must be ready for a
// while, and sets it right a minute later.
func TestClockJumps(t *testing.T) {
	const year = 365 * 24 * time.Hour
	n := 0
	trials := eachScenario(t, func(scenario scenarios.Scenario, _ verdict) (all []trial) {
		scenario.Set = scenario.Set.DeepCopy()
		scenario.Set.Spec.MinReadySeconds = 10
		peace := peaceful(t, scenario)
		for _, jump := range []time.Duration{time.Hour, -time.Hour, 10 * year, -10 * year, 8 * time.Second, -8 * time.Second} {
			for _, at := range []int{peace.writes / 3, 2 * peace.writes / 3} {
				if n++; full() || n%13 == 0 {
					all = append(all, trial{
						name: fmt.Sprintf("clock jumps by %s at write %d", jump, at), scenario: scenario, seed: uint64(n), fault: jumping(jump, at),
					})
				}
			}
		}
		return all
	})
	report(t, "clock jumps", trials, "by 8 seconds, an hour and 10 years, forward and backward, with minReadySeconds, and back")
}

func jumping(jump time.Duration, at int) func() fault {
	return func() fault {
		jumped := false
		return fault{call: func(w *world, c *call) bool {
			if !jumped && w.writes == at {
				jumped = true
				w.trace("now: clock jumps by %s", jump)
				by := c.by
				by.clock.off += jump
				w.after(time.Minute, func() {
					w.trace("now: clock is right again")
					by.clock.off -= jump
				})
			}
			return false
		}}
	}
}
