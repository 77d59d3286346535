// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"maps"
	"strings"

	corev1 "k8s.io/api/core/v1"

	v1 "statefulset.dev/api/apps/v1"
	"statefulset.dev/controller/plan/action"
)

// asksForOrder is the order of updates that the set asks for, empty if it asks for none.
func (f evidence) asksForOrder() v1.UpdateOrder {
	rolling := f.Set.Spec.UpdateStrategy.RollingUpdate
	if f.strategy() != v1.RollingUpdateStatefulSetStrategyType || rolling == nil || rolling.Order == nil {
		return v1.UpdateOrder{}
	}
	return *rolling.Order
}

// reorders reports whether the set may have to be updated in another order than from the
// highest ordinal down.
func (f evidence) reorders() bool {
	order := f.asksForOrder()
	return order.Direction == v1.AscendingUpdateDirectionType || len(order.First) > 0 || len(order.Last) > 0
}

// lateness is how many selectors of those that come last go before the latest that matches
// the pod of a member, and that one; 0 if none does.
func (f evidence) lateness(ordinal int) (late int) {
	pod := f.member(ordinal)
	for i, selector := range f.asksForOrder().Last {
		matches := pod != nil && len(selector.MatchExpressions) == 0
		for key, value := range selector.MatchLabels {
			matches = matches && pod.Labels[key] == value
		}
		if matches {
			late = i + 1
		}
	}
	return late
}

// earliness is the position among the ranges that come first, and beyond them if the ordinal
// is in none.
func (f evidence) earliness(ordinal int) int {
	first := f.asksForOrder().First
	for i := range first {
		if isReserved(first[i:i+1], ordinal) {
			return i
		}
	}
	return len(first)
}

// precedes reports whether one member is to be changed before another.
func (f evidence) precedes(one, other int) bool {
	if a, b := f.lateness(one), f.lateness(other); a != b {
		return a < b
	}
	if a, b := f.earliness(one), f.earliness(other); a != b {
		return a < b
	}
	if f.asksForOrder().Direction == v1.AscendingUpdateDirectionType {
		return one < other
	}
	return one > other
}

// isOutdated reports whether an update has yet to recreate a member.
func (j *judged) isOutdated(ordinal int) bool {
	pod := j.member(ordinal)
	return pod != nil && pod.DeletionTimestamp == nil && j.wanted(ordinal) && !j.rests() && j.mayTake(pod, ordinal)
}

// waitsFor is a member that has to be done before one that comes last, -1 if there is none.
func (j *judged) waitsFor(ordinal int) int {
	late := j.lateness(ordinal)
	for _, other := range j.ordinals {
		if j.lateness(other) < late && (j.isOutdated(other) || !j.serves(other) || j.asked(j.member(other))) {
			return other
		}
	}
	return -1
}

// comesLast: those that come last are taken, also on request, only when all others are done. Who comes
// before whom otherwise, the outcome oracles judge.
func (j *judged) comesLast() {
	if j.strategy() != v1.RollingUpdateStatefulSetStrategyType {
		return
	}
	taken := map[int]bool{}
	for _, act := range j.updatesBegun() {
		taken[act.Ordinal] = true
	}
	for _, act := range planned[action.PatchPod](j) {
		if act.Event != "" && j.operationOn(j.pods[act.Pod.Name]) == "Update" {
			taken[act.Ordinal] = true
		}
	}
	for _, act := range planned[action.SetPodConditions](j) {
		if takesOut(act) {
			taken[act.Ordinal] = true
		}
	}
	asked := j.takenAsAsked()
	j.barrier(taken)
	j.barrier(asked)
	maps.Copy(taken, asked)
	j.orderTold(taken)
}

// takenAsAsked are the members that are taken because somebody has asked for it, or whose gates
// are asked about that.
func (j *judged) takenAsAsked() map[int]bool {
	taken := map[int]bool{}
	for _, act := range planned[action.DeletePod](j) {
		if act.Reason == action.DeleteOnRequest {
			taken[act.Ordinal] = true
		}
	}
	for _, act := range planned[action.PatchPod](j) {
		if pod := j.pods[act.Pod.Name]; act.Event != "" && j.operationOn(pod) == "Replace" {
			taken[j.ordinalOf(pod.Name)] = true
		}
	}
	return taken
}

// barrier: no member that is ready is taken before one that comes before it by its labels is done.
func (j *judged) barrier(taken map[int]bool) {
	for one := range taken {
		if _, ok := ready(j.member(one)); !ok {
			continue
		}
		if other := j.waitsFor(one); other >= 0 {
			j.broke("barrier", "member %d is taken while member %d, which comes before it by its labels, is outdated, unavailable or to be replaced",
				one, other)
		}
	}
}

// orderTold: where more members might be unavailable, and one is kept only because others
// come before it, it is said so.
func (j *judged) orderTold(taken map[int]bool) {
	free := j.maxUnavailable()
	for _, ordinal := range j.ordinals {
		if !j.serves(ordinal) || j.isLeaving(ordinal) {
			free--
		}
		// As in apps/v1, one that is ready and not available yet is paid for once more, and so is one
		// that is not ready by our hand. Only a broken one costs nothing.
		if pod := j.member(ordinal); pod != nil && taken[ordinal] {
			if _, broken := unreadySince(pod); !broken {
				free--
			}
		}
	}
	if free <= 0 || j.rests() || j.undecided() || j.Set.DeletionTimestamp != nil || j.ordered() || j.stalls() || j.changesMembership() {
		return
	}
	for _, ordinal := range j.ordinals {
		pod := j.member(ordinal)
		if !j.isOutdated(ordinal) && !j.asked(pod) || taken[ordinal] || pod == nil || isTerminating(pod) || j.waitsFor(ordinal) < 0 {
			continue
		}
		if _, restarts := noted(pod); restarts {
			continue
		}
		if _, ok := ready(pod); ok && !strings.Contains(j.plan.Waiting, "is last; waiting for") {
			j.broke("order told", "member %d waits for member %d, and the plan waits for %q", ordinal, j.waitsFor(ordinal), j.plan.Waiting)
		}
	}
}

// changesMembership reports whether something is made the set's, or no longer so, before
// which nothing is decided on it.
func (j *judged) changesMembership() bool {
	return len(planned[action.RepairPod](j))+len(planned[action.AdoptPod](j))+len(planned[action.ReleasePod](j))+
		len(planned[action.AdoptRevision](j)) > 0
}

// stalls reports whether the plan says that somebody has to do something.
func (j *judged) stalls() bool {
	for _, condition := range j.plan.Status.Conditions {
		if condition.Type == v1.StatefulSetStalled {
			return condition.Status == corev1.ConditionTrue
		}
	}
	return false
}

// growthOrder: of the members whose claims could be told to grow, those are that come first.
func (j *judged) growthOrder() {
	begun, lacks := map[int]bool{}, map[int]bool{}
	for _, act := range planned[action.UpdateClaim](j) {
		if act.Size != nil || act.AttributesClass != "" {
			begun[act.Ordinal] = true
		}
	}
	j.eachClaim(func(ordinal int, template, claim *corev1.PersistentVolumeClaim) {
		untold, _ := lag(template, claim)
		for _, what := range untold {
			lacks[ordinal] = lacks[ordinal] || j.free(claim) && !strings.HasPrefix(what, "label ")
		}
	})
	for one := range begun {
		for other := range lacks {
			if lacks[other] && !begun[other] && j.precedes(other, one) {
				j.broke("growth order", "the claims of member %d grow before those of member %d", one, other)
			}
		}
	}
}
