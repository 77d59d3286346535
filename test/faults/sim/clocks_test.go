// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package sim

import (
	"bytes"
	"fmt"
	"regexp"
	"slices"
	"testing"
	"time"

	v1 "statefulset.dev/api/apps/v1"
	"statefulset.dev/test/faults/internal/scenarios"
)

// mostSkew is by how much the clock of a replica may be wrong.
const mostSkew = 30 * 24 * time.Hour

// skew is by how much the clock of the next replica is ahead: one of three is right, the others by up to
// mostSkew ahead or behind. Without faults all are right.
func (w *world) skew() time.Duration {
	if w.clocks == nil || w.clocks.IntN(3) == 0 {
		return 0
	}
	return time.Duration(w.clocks.Int64N(int64(2*mostSkew))) - mostSkew
}

// TestDatesOfAWrongClock has a first controller that is not told the time and has a clock that is 30 days
// behind. It is killed when it has dated the first claim or object. The next one is told the time, whatever its own clock is.
func TestDatesOfAWrongClock(t *testing.T) {
	var trials []trial
	for _, scenario := range everything() {
		if scenario, delays := slower(scenario); delays {
			peaceful(t, scenario)
			for seed := range fullOr(100, 8) {
				trials = append(trials,
					trial{name: fmt.Sprintf("dates of a wrong clock, seed %d", seed), scenario: scenario, seed: uint64(seed), fault: deposedByItsDate})
			}
		}
	}
	report(t, "dates of a wrong clock", trials,
		"a leader that is not told the time, 30 days behind, killed when it has dated what is to be deleted")
}

var delay = regexp.MustCompile(`"scaledAfterSeconds":\d+`)

// slower is a scenario with ten times the delays after which claims and objects are deleted, and false if it
// has none.
func slower(scenario scenarios.Scenario) (s scenarios.Scenario, delays bool) {
	scenario.Steps = slices.Clone(scenario.Steps)
	for i, step := range scenario.Steps {
		if patch, ok := step.(scenarios.Patch); ok && delay.MatchString(string(patch)) {
			scenario.Steps[i], delays = scenarios.Patch(delay.ReplaceAllString(string(patch), "${0}0")), true
		}
	}
	return scenario, delays
}

func deposedByItsDate() fault {
	return fault{
		begin: func(w *world) { w.timeless = true },
		call: func(w *world, c *call) bool {
			if !c.by.timeless || !c.writes() || !bytes.Contains(c.Body, []byte(`"`+v1.RetiredAtAnnotation+`":"`)) {
				return false
			}
			w.timeless = false
			w.crash(afterWrite, c)
			return true
		},
	}
}
