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
	if len(j.plan.All()) > 0 || !equality.Semantic.DeepEqual(j.plan.Status, world.Set.Status) {
		return
	}
	next := cmp.Or(j.plan.RequeueAfter, 365*24*time.Hour)
	world.Now = world.Now.Add(next - time.Millisecond)
	if later := compute(world); len(later.All()) > 0 || lookOf(later) != lookOf(j.plan) {
		j.broke("next look", "the next look is due in %s, and just before that, the plan is %v, with\n%s, and was with\n%s", j.plan.RequeueAfter,
			later.All(), lookOf(later), lookOf(j.plan))
	}
}

// lookOf is what a user sees of a plan in which nothing is done, but for times and messages.
func lookOf(p Plan) (text string) {
	for _, c := range p.Status.Conditions {
		text += fmt.Sprintf("%s=%s %s ", c.Type, c.Status, c.Reason)
	}
	return text + fmt.Sprint(p.Status.AvailableReplicas, " available")
}
