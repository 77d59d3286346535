// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package sim

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"statefulset.dev/test/faults/internal/scenarios"
)

// crash is the moment at which a controller is killed around one of its writes.
type crash string

const (
	beforeWrite crash = "before write"
	insideWrite crash = "after the commit and before the reply of write"
	afterWrite  crash = "after write"
	// lateWrite lets the write land when the next controller is at work.
	lateWrite crash = "before the late landing of write"
)

// TestCrashAroundEveryWrite kills the controller around each of its writes, and
// starts another at once, which does not have to wait for a lease.
func TestCrashAroundEveryWrite(t *testing.T) {
	every := fullOr(1, 9)
	trials := eachScenario(t, func(scenario scenarios.Scenario, peace verdict) (all []trial) {
		for k := 1; k <= peace.writes; k++ {
			for n, how := range []crash{beforeWrite, insideWrite, afterWrite, lateWrite} {
				if (k+n)%every == 0 {
					all = append(all, trial{name: fmt.Sprintf("crash %s %d", how, k), scenario: scenario, seed: uint64(k), fault: crashAt(how, k)})
				}
			}
		}
		return all
	})
	report(t, "crash around every write", trials, "killed before, inside, after and with a late landing of write k, for every k")
}

// TestCrashOfTheLeader kills the leader inside each write. The next one waits for its
// lease to run out.
func TestCrashOfTheLeader(t *testing.T) {
	every := fullOr(2, 25)
	trials := eachScenario(t, func(scenario scenarios.Scenario, peace verdict) (all []trial) {
		for k := every; k <= peace.writes; k += every {
			all = append(all, trial{
				name: fmt.Sprintf("crash of the leader %s %d", insideWrite, k), scenario: scenario, seed: uint64(k),
				leaderElect: true, fault: crashAt(insideWrite, k),
			})
		}
		return all
	})
	report(t, "crash of the leader", trials, "killed inside write k, and replaced when its lease has run out")
}

func crashAt(how crash, k int) func() fault {
	return func() fault {
		crashed := false
		return fault{call: func(w *world, c *call) bool {
			if crashed || !c.writes() || w.writes != k {
				return false
			}
			crashed = true
			w.crash(how, c)
			return true
		}}
	}
}

// crash kills the sender of a call around it.
func (w *world) crash(how crash, c *call) {
	switch how {
	case beforeWrite, lateWrite:
		w.forget(c)
	case insideWrite:
		w.commit(c)
		w.forget(c)
	case afterWrite:
		w.commit(c)
		w.reply(c)
		synctest.Wait()
		w.collect()
	}
	w.restart(c.by)
	if how == lateWrite {
		w.after(w.delay(400*time.Millisecond), func() { w.commit(c) })
	}
}
