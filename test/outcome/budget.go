// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package outcome

import (
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"

	v1 "statefulset.dev/api/apps/v1"
)

// budget is the oracle for maxUnavailable (docs/disruption.md, docs/in-place.md, and
// docs/scaling.md, "Replacing members"): the controller removes a serving member from service, to
// update or replace it, only if then at most maxUnavailable members are unavailable.
type budget struct {
	// restarting contains the pods for which the controller has set other images, with their
	// previous containers.
	restarting map[types.UID]string
}

func newBudget() *budget { return &budget{map[types.UID]string{}} }

func (*budget) name() string { return "budget" }

func (o *budget) changed(j *Judge, before, after *Scene, by Actor) {
	if before == nil || before.Set == nil || after.Set == nil {
		return
	}
	for _, name := range slices.Sorted(maps.Keys(before.Pods)) {
		was, now := before.Pods[name], after.Pods[name]
		n, is := ordinal(after.Set, name)
		if !is || was == now || before.podOf(n) == nil {
			continue
		}
		verb := taken(was, now)
		if by == Controller && verb != "" && isDesired(after.Set, n) && o.bounds(after) {
			o.judge(j, after, was, verb)
		}
		if now != nil && now.UID == was.UID && images(was) != images(now) {
			o.restarting[now.UID] = containers(now)
		}
	}
}

// bounds reports whether the set limits how many of its members are unavailable, and the controller
// can know that number.
func (*budget) bounds(now *Scene) bool {
	return works(now.Set) && now.Set.Spec.UpdateStrategy.Type != v1.RecreateStatefulSetStrategyType &&
		(now.Skew == 0 || now.Set.Spec.MinReadySeconds == 0)
}

// taken returns how a pod that served was removed from service, empty if it was not.
func taken(was, now *corev1.Pod) string {
	if !isReady(was) || was.DeletionTimestamp != nil {
		return ""
	}
	switch {
	case now == nil || now.UID != was.UID || now.DeletionTimestamp != nil:
		return "removed"
	case images(was) != images(now):
		return "restarted"
	case !isTaken(was) && isDrained(now):
		return "drained"
	case !isTaken(was) && isAskedToGo(now):
		return "asked"
	}
	return ""
}

func isAskedToGo(pod *corev1.Pod) bool {
	_, open := askedOf(pod)
	return open
}

// isTaken reports whether the controller has begun to remove a pod from service that may still
// serve: its gates are asked, or it is drained. From then on it counts as unavailable for the
// removal of another pod.
func isTaken(pod *corev1.Pod) bool { return isAskedToGo(pod) || isDrained(pod) }

// restarts reports whether containers of a pod are about to be restarted or resized, so that it
// counts as unavailable whatever happens.
func (o *budget) restarts(pod *corev1.Pod) bool {
	_, under := pod.Annotations[v1.InPlaceAnnotation]
	before, restarting := o.restarting[pod.UID]
	return under || restarting && before == containers(pod)
}

// judge counts the members that are unavailable when a pod was removed from service. Once that has
// begun for a pod, other pods that are leaving service do not count against it.
func (o *budget) judge(j *Judge, now *Scene, was *corev1.Pod, verb string) {
	most, unavailable, begun := mostUnavailable(now.Set), 0, isTaken(was)
	if begun && !now.isAvailable(was) || o.restarts(was) {
		return // this makes no additional member unavailable
	}
	for _, n := range desired(now.Set) {
		if pod := now.podOf(n); !now.isAvailable(pod) || pod.UID == was.UID || o.restarts(pod) || !begun && isTaken(pod) {
			unavailable++
		}
	}
	if unavailable > most {
		j.broken(o, "%s: pod %s was serving, and without it %d members are unavailable, but only %d may be", verb, was.Name, unavailable, most)
	}
}

// mostUnavailable returns how many members an update or a replacement may make unavailable, at
// least one.
func mostUnavailable(set *v1.StatefulSet) int {
	rolling := rollingOf(set)
	if rolling == nil || rolling.MaxUnavailable == nil {
		return 1
	}
	most, err := intstr.GetScaledValueFromIntOrPercent(rolling.MaxUnavailable, replicas(set), false)
	if err != nil {
		return 1
	}
	return max(most, 1)
}
