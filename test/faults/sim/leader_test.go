// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package sim

import (
	"fmt"
	"testing"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"statefulset.dev/controller"
	"statefulset.dev/test/faults/internal/scenarios"
	"statefulset.dev/test/faults/sim/model"
)

// TestFormerLeaders takes the lease from the leader while each of its writes is under
// way. "stopped" is a process that stands still until its lease is somebody else's, and
// goes on before any of its timers has fired; "cut off" is one that runs on without
// a connection.
func TestFormerLeaders(t *testing.T) {
	every := fullOr(1, 13)
	n := 0
	trials := eachScenario(t, func(scenario scenarios.Scenario, peace verdict) (all []trial) {
		for k := 1; k <= peace.writes; k++ {
			for kind, deposed := range map[string]func(*world, *call){"stopped": stopped, "cut off": cutOff} {
				if n++; k%every != 0 || kind == "cut off" && k%3 != 0 {
					continue
				}
				tr := trial{
					name: fmt.Sprintf("leader %s at write %d", kind, k), scenario: scenario, seed: uint64(k),
					leaderElect: true, replicas: 1, fault: onceAtWrite(k, deposed),
				}
				if kind == "cut off" {
					tr.replicas = 2
				}
				all = append(all, tr)
			}
		}
		return all
	})
	report(t, "former leaders", trials, "leader stopped, or cut off, for longer than its lease at write k, and then let go on")
}

func onceAtWrite(k int, happens func(*world, *call)) func() fault {
	return func() fault {
		done := false
		return fault{call: func(w *world, c *call) bool {
			if done || !c.writes() || w.writes != k {
				return false
			}
			done = true
			happens(w, c)
			return true
		}}
	}
}

// stopped gives the lease to another controller. For the former leader no time
// passes until it goes on, but its clock shows how long it was.
func stopped(w *world, c *call) {
	former := c.by
	w.trace("now: %s is stopped", former.name)
	former.cut = true
	former.clock.off += controller.NewOptions().LeaseDuration + time.Second
	options := controller.NewOptions()
	must(w.host.Update(model.Leases, options.LeaseNamespace, options.LeaseName, "", func(object model.Object) (model.Object, error) {
		lease := object.(*coordinationv1.Lease)
		lease.Spec.HolderIdentity = new("somebody else")
		lease.Spec.RenewTime = &metav1.MicroTime{Time: time.Now()}
		return lease, nil
	}))
	w.leaderElect = false
	w.start()
	w.after(w.delay(time.Second), func() { w.goesOn(former) })
}

// cutOff breaks all connections of the leader until the other one has the lease.
func cutOff(w *world, c *call) {
	former := c.by
	w.trace("now: %s is cut off", former.name)
	former.cut = true
	w.after(2*controller.NewOptions().LeaseDuration, func() { w.goesOn(former) })
}

// goesOn lets a former leader go on. What it has begun lands; what it begins now is
// wrong, unless it has won the lease again.
func (w *world) goesOn(former *replica) {
	w.trace("now: %s goes on", former.name)
	former.cut = false
	w.judge.deposed[former] = true
}

// tookLease notes that a replica has the lease.
func (j *judge) tookLease(c *call) {
	lease, ok := c.result.(*coordinationv1.Lease)
	if ok && c.Mutates() && deref(lease.Spec.HolderIdentity) == c.by.name {
		delete(j.deposed, c.by)
	}
}
