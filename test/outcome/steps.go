// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package outcome

import (
	"slices"

	"k8s.io/apimachinery/pkg/util/intstr"

	v1 "statefulset.dev/api/apps/v1"
)

// approvals is the oracle for approvals: no update passes a step that requires a promotion before a
// user has promoted it (docs/rollouts.md, "Step by step").
type approvals struct {
	versions
	// held are the steps that have been in the list since the update began and require a promotion.
	held []v1.RolloutStep
	// promoted is true if a user has promoted any step of the update.
	promoted bool
	// edited is true if the list of steps has changed in the middle of the update.
	edited bool
	before []v1.RolloutStep
}

func newApprovals() *approvals { return &approvals{versions: newVersions()} }

func (*approvals) name() string { return "approval" }

func (o *approvals) changed(j *Judge, before, after *Scene, by Actor) {
	if after.Set == nil {
		return
	}
	o.judge(j, before, after, by)
	template := o.template
	o.see(after, by)
	set, steps := after.Set, []v1.RolloutStep(nil)
	if rolling := rollingOf(set); rolling != nil {
		steps = rolling.Steps
	}
	manual := slices.DeleteFunc(slices.Clone(steps), func(s v1.RolloutStep) bool { return s.Approval != v1.ManualRolloutStepApproval })
	if o.template == o.whole || o.template != template {
		o.held, o.before, o.promoted, o.edited = manual, steps, false, false
	}
	o.held = slices.DeleteFunc(o.held, func(s v1.RolloutStep) bool {
		return !slices.ContainsFunc(manual, func(t v1.RolloutStep) bool { return t.Updated == s.Updated })
	})
	record := decided(set)
	o.promoted = o.promoted || record.PromotedAll || record.PromotedStep > 0
	o.edited = o.edited ||
		!slices.EqualFunc(o.before, steps, func(a, b v1.RolloutStep) bool { return a.Updated == b.Updated && a.Approval == b.Approval })
}

func (o *approvals) judge(j *Judge, before, after *Scene, by Actor) {
	if by != Controller || !o.clear(after.Set) || o.promoted || o.mayBe || len(o.held) == 0 {
		return
	}
	if kind := after.Set.Spec.UpdateStrategy.Type; kind != v1.RollingUpdateStatefulSetStrategyType {
		return
	}
	quota := replicas(after.Set)
	for _, step := range o.held {
		quota = min(quota, share(step.Updated, replicas(after.Set)))
	}
	for _, c := range o.changes(before, after) {
		if c.to != o.template || o.reached[c.n] || !isDesired(after.Set, c.n) {
			continue
		}
		updated := o.number(after.Set, c.n)
		if updated <= quota {
			continue
		}
		if o.edited {
			j.broken(o, "skipped after the steps were changed: member %d is updated to %s as number %d, but no user has promoted the step of %d", c.n, c.to,
				updated, quota)
		} else {
			j.broken(o, "skipped: member %d is updated to %s as number %d, but no user has promoted the step of %d", c.n, c.to, updated, quota)
		}
	}
}

// share returns how many members a number or a percentage of them is, rounded up.
func share(of intstr.IntOrString, members int) int {
	n, err := intstr.GetScaledValueFromIntOrPercent(&of, members, true)
	if err != nil {
		return members
	}
	return n
}
