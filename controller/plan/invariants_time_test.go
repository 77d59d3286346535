// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"cmp"
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/api/equality"
)

// looksInTime: where nothing is to be done, time alone changes nothing before the next look is due. A status that has
// changed is written, and the controller syncs again at once.
func (j *judged) looksInTime(compute func(World) Plan, world World) {
	p := j.plan
	if len(p.All()) == 0 && !equality.Semantic.DeepEqual(p.Status, world.Set.Status) {
		world.Set = world.Set.DeepCopy()
		world.Set.Status = p.Status
		p = compute(world)
	}
	if len(p.All()) > 0 || !equality.Semantic.DeepEqual(p.Status, world.Set.Status) {
		return
	}
	next := cmp.Or(p.RequeueAfter, 365*24*time.Hour)
	world.Now = world.Now.Add(next - time.Millisecond)
	if later := compute(world); len(later.All()) > 0 || lookOf(later) != lookOf(p) {
		j.broke("next look", "the next look is due in %s, and just before that, the plan is %v, with\n%s, and was with\n%s", p.RequeueAfter,
			later.All(), lookOf(later), lookOf(p))
	}
}

// lookOf is what a user sees of a plan in which nothing is done, but for times and messages.
func lookOf(p Plan) (text string) {
	for _, c := range p.Status.Conditions {
		text += fmt.Sprintf("%s=%s %s ", c.Type, c.Status, c.Reason)
	}
	return text + fmt.Sprint(p.Status.AvailableReplicas, " available")
}
