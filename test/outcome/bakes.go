// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package outcome

import (
	"reflect"
	"time"

	corev1 "k8s.io/api/core/v1"

	v1 "statefulset.dev/api/apps/v1"
)

// bakes is the oracle for bake times: an update passes a step only after the members of the step
// have been available for the bake time of the step, and have had the conditions that it
// requires (docs/rollouts.md, "Step by step").
type bakes struct {
	versions
	// since is the time since which a member has been available with the current template without a
	// break.
	since map[int]time.Time
	steps []v1.RolloutStep
	// baked and fine are the steps, by index, whose members have been available for long enough,
	// and have had the conditions, at some time of the update.
	baked, fine map[int]bool
	// edited is true if the list of steps has changed in the middle of the update, waived if a user
	// has promoted all steps or the controller used a wrong clock.
	edited, waived bool
}

func newBakes() *bakes {
	return &bakes{versions: newVersions(), since: map[int]time.Time{}, baked: map[int]bool{}, fine: map[int]bool{}}
}

func (*bakes) name() string { return "bake" }

func (o *bakes) changed(j *Judge, before, after *Scene, by Actor) {
	if after.Set == nil {
		return
	}
	if by == Controller && o.clear(after.Set) && !o.mayBe && !o.edited && !o.waived {
		o.judge(j, before, after)
	}
	template := o.template
	o.see(after, by)
	var steps []v1.RolloutStep
	if rolling := rollingOf(after.Set); rolling != nil {
		steps = rolling.Steps
	}
	if o.template == o.whole || o.template != template {
		o.steps, o.edited, o.waived = steps, false, false
		clear(o.since)
		clear(o.baked)
		clear(o.fine)
	}
	o.edited = o.edited || !reflect.DeepEqual(o.steps, steps)
	o.waived = o.waived || decided(after.Set).PromotedAll || after.Skew != 0
	o.follow(after)
}

// follow records since when members are available, and which steps have met their requirements.
func (o *bakes) follow(now *Scene) {
	for _, n := range desired(now.Set) {
		pod := now.podOf(n)
		if pod == nil || version(&pod.Spec) != o.template || !now.isAvailable(pod) {
			delete(o.since, n)
		} else if _, known := o.since[n]; !known {
			o.since[n] = availableSince(now, pod)
		}
	}
	for i, step := range o.steps {
		long, fine := 0, 0
		for n, since := range o.since {
			// Dates of conditions have whole seconds.
			if now.Now.Sub(since) >= time.Duration(step.BakeSeconds)*time.Second-time.Second {
				long++
			}
			if has(now.podOf(n), step.PodConditions) {
				fine++
			}
		}
		asked := share(step.Updated, replicas(now.Set))
		o.baked[i], o.fine[i] = o.baked[i] || long >= asked, o.fine[i] || fine >= asked
	}
}

// availableSince returns the time since which an available pod has been available.
func availableSince(now *Scene, pod *corev1.Pod) time.Time {
	for _, c := range pod.Status.Conditions {
		if c.Type == corev1.PodReady {
			return c.LastTransitionTime.Add(time.Duration(now.Set.Spec.MinReadySeconds) * time.Second)
		}
	}
	return now.Now
}

func has(pod *corev1.Pod, conditions []string) bool {
	for _, kind := range conditions {
		if pod == nil || !is(pod, corev1.PodConditionType(kind)) {
			return false
		}
	}
	return true
}

func (o *bakes) judge(j *Judge, before, after *Scene) {
	rolling := rollingOf(after.Set)
	if rolling == nil {
		return
	}
	for _, c := range o.changes(before, after) {
		was := before.podOf(c.n)
		broken := rolling.ReplaceUnreadyAfterSeconds != nil && was != nil && !isReady(was)
		if c.to != o.template || o.reached[c.n] || broken || !isDesired(after.Set, c.n) {
			continue
		}
		updated := o.number(after.Set, c.n)
		o.judgeStep(j, c, updated, replicas(after.Set))
	}
}

// judgeStep judges a member that is updated as number updated, counted from 1.
func (o *bakes) judgeStep(j *Judge, c change, updated, members int) {
	for i, step := range o.steps {
		if updated <= share(step.Updated, members) {
			continue
		}
		if !o.baked[i] {
			j.broken(o, "too short: member %d is updated to %s as number %d, but the members of step %s have not been available for %ds", c.n, c.to,
				updated, step.Updated.String(), step.BakeSeconds)
		}
		if !o.fine[i] {
			j.broken(o, "without a condition: member %d is updated to %s as number %d, but not all members of step %s have had the conditions %v", c.n, c.to,
				updated, step.Updated.String(), step.PodConditions)
		}
	}
}
