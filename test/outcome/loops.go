// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package outcome

import (
	"maps"
	"slices"

	apiequality "k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/types"
)

// loops is the oracle for termination: the controller does not write an object again and again
// while no user changes anything, and its writes are not without effect.
type loops struct {
	writes map[types.UID]int
	// drains counts how often a pod was removed from service.
	drains map[types.UID]int
}

func newLoops() *loops { return &loops{map[types.UID]int{}, map[types.UID]int{}} }

func (*loops) name() string { return "loop" }

// mostWrites is more than the number of writes that any event can require for an object.
const mostWrites = 40

func (o *loops) changed(j *Judge, before, after *Scene, by Actor) { //nolint:gocyclo // each condition is one reason to say nothing
	if by == User || before == nil {
		clear(o.writes)
		clear(o.drains)
		return
	}
	if by != Controller {
		return
	}
	for _, name := range slices.Sorted(maps.Keys(after.Pods)) {
		was, now := before.Pods[name], after.Pods[name]
		if was == nil || was.UID != now.UID || was == now || was.ResourceVersion == now.ResourceVersion {
			continue
		}
		if o.writes[now.UID]++; !isDrained(was) && isDrained(now) {
			o.drains[now.UID]++
		}
		switch {
		case o.drains[now.UID] == mostWrites/4:
			j.broken(o, "drain: pod %s was removed from service %d times, although no user changed anything", name, mostWrites/4)
		case o.writes[now.UID] == mostWrites:
			j.broken(o, "pod: %s was written %d times, although no user changed anything", name, mostWrites)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(after.Claims)) {
		was, now := before.Claims[name], after.Claims[name]
		if was == nil || was.UID != now.UID || was.ResourceVersion == now.ResourceVersion {
			continue
		}
		if o.writes[now.UID]++; o.writes[now.UID] != mostWrites {
			continue
		}
		what := "claim"
		if !apiequality.Semantic.DeepEqual(was.Annotations, now.Annotations) {
			what = "annotations"
		}
		j.broken(o, "%s: claim %s was written %d times, although no user changed anything", what, name, mostWrites)
	}
}
