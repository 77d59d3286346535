// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package outcome

import (
	"fmt"
	"maps"
	"reflect"
	"slices"

	v1 "statefulset.dev/api/apps/v1"
)

// scaleIn is the oracle for docs/scaling.md: members are removed from the highest ordinal down, in
// an ordered set one at a time and only while all remaining members are ready.
type scaleIn struct {
	// found are the violations of the current sync, from is the cluster when it began.
	found []string
	from  *Scene
}

func (*scaleIn) name() string { return "scale-in" }

func (o *scaleIn) changed(_ *Judge, before, after *Scene, by Actor) {
	if by != Controller {
		o.from, o.found = after, nil
		return
	}
	if before == nil || before.Set == nil || !works(after.Set) || !isOrdered(after.Set) ||
		after.Set.Spec.UpdateStrategy.Type == v1.RecreateStatefulSetStrategyType {
		return
	}
	for _, name := range removals(before, after) {
		o.judge(before, name)
	}
}

// removals returns the surplus pods that a change has begun to remove.
func removals(before, after *Scene) (names []string) {
	for _, name := range slices.Sorted(maps.Keys(before.Pods)) {
		n, is := ordinal(after.Set, name)
		was, now := before.podOf(n), after.Pods[name]
		if is && !isDesired(after.Set, n) && was != nil && was.DeletionTimestamp == nil &&
			(now == nil || now.UID != was.UID || now.DeletionTimestamp != nil) {
			names = append(names, name)
		}
	}
	return names
}

// judge judges the removal of a surplus pod from an ordered set. Lower pods may be terminating for
// another reason, and the controller does not wait for a remaining pod that is leaving service.
func (o *scaleIn) judge(before *Scene, name string) {
	removed, _ := ordinal(before.Set, name)
	for _, other := range slices.Sorted(maps.Keys(before.Pods)) {
		n, is := ordinal(before.Set, other)
		if pod := before.podOf(n); is && n > removed && pod != nil && pod.DeletionTimestamp != nil && !isDesired(before.Set, n) {
			o.note("together: pod %s was removed, although pod %s was still terminating", name, other)
		}
	}
	for _, n := range desired(before.Set) {
		if pod := before.podOf(n); pod == nil || !isTaken(pod) && !isReady(pod) || pod.DeletionTimestamp != nil {
			o.note("behind: pod %s was removed, although the remaining member %d was not ready", name, n)
		}
	}
}

func (o *scaleIn) note(format string, args ...any) {
	o.found = append(o.found, fmt.Sprintf(format, args...))
}

// synced judges everything that a sync has removed, because a Parallel set removes several pods at
// a time.
func (o *scaleIn) synced(j *Judge, now *Scene, sync Sync) {
	from := o.from
	if o.from = now; sync.Clean && from != nil && from.Set != nil && works(now.Set) && now.Set.Spec.Disruption == nil &&
		len(now.Set.Spec.ObjectTemplates) == 0 {
		o.judgeOrder(from, now)
		if len(o.found) > 0 {
			j.broken(o, "%s", o.found[0])
		}
	}
	o.found = nil
}

// judgeOrder compares the removed pods with those that stay. Recreate removes all pods of the old
// template at once. A Parallel set removes a pod in the next sync if it has changed the pod in this
// one, or if the pod owned a claim.
func (o *scaleIn) judgeOrder(from, now *Scene) {
	if now.Set.Spec.UpdateStrategy.Type == v1.RecreateStatefulSetStrategyType {
		return
	}
	for _, name := range removals(from, now) {
		n, _ := ordinal(now.Set, name)
		for _, other := range slices.Sorted(maps.Keys(now.Pods)) {
			m, is := ordinal(now.Set, other)
			pod := now.podOf(m)
			if !isOrdered(now.Set) && (!reflect.DeepEqual(pod, from.podOf(m)) || from.ownsClaim(pod)) {
				continue
			}
			if is && m > n && !isDesired(now.Set, m) && pod != nil && pod.DeletionTimestamp == nil && !marksClaims(now.Set) {
				o.note("order: pod %s was removed before pod %s", name, other)
			}
		}
	}
}
