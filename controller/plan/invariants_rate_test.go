// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	v1 "statefulset.dev/api/apps/v1"
	"statefulset.dev/controller/plan/action"
)

// atATime is how many members may start at a time, and false if the set has no bound.
func (f evidence) atATime() (int, bool) { return f.partOf(len(f.ordinals)) }

// mayGo is how many members may terminate at a time. A percentage is taken of the larger of the existing
// and the desired members.
func (f evidence) mayGo() int {
	exist := 0
	for _, pod := range f.Pods {
		exist += boolToInt(f.mine(pod))
	}
	limit, _ := f.partOf(max(exist, len(f.ordinals)))
	return limit
}

// partOf is what the strategy says of so many members.
func (f evidence) partOf(members int) (int, bool) {
	strategy := f.Set.Spec.ScaleStrategy
	if f.ordered() || strategy == nil || strategy.MaxUnavailable == nil {
		return 0, false
	}
	if percent, isPercent := strings.CutSuffix(strategy.MaxUnavailable.StrVal, "%"); isPercent {
		share, err := strconv.Atoi(percent)
		return max(members*share/100, 1), err == nil
	}
	return strategy.MaxUnavailable.IntValue(), true
}

// starters are for how long the members that are starting still count so.
func (f evidence) starters() (left []time.Duration) {
	deadline := 600 * time.Second
	if seconds := f.Set.Spec.ProgressDeadlineSeconds; seconds != nil {
		deadline = time.Duration(*seconds) * time.Second
	}
	for _, ordinal := range f.ordinals {
		pod := f.member(ordinal)
		if pod == nil || f.serves(ordinal) {
			continue
		}
		if age := f.Now.Sub(pod.CreationTimestamp.Time); age < deadline {
			left = append(left, deadline-age)
		}
	}
	return left
}

// lacking are the wanted ordinals that have no member.
func (f evidence) lacking() (ordinals []int) {
	for _, ordinal := range f.ordinals {
		if f.member(ordinal) == nil {
			ordinals = append(ordinals, ordinal)
		}
	}
	return ordinals
}

// rate: a Parallel set that says so lets only so many members start, and go, at a time, the
// lowest ordinals first; and as many as it may, whatever others do that never start.
func (j *judged) rate() {
	limit, bounded := j.atATime()
	if !bounded {
		return
	}
	starting, creates := len(j.starters()), planned[action.CreateMember](j)
	if len(creates) > 0 && starting+len(creates) > limit {
		j.broke("rate of creation", "%d members are created while %d are starting, and %d may be", len(creates), starting, limit)
	}
	going, removals := 0, 0
	for _, ordinal := range j.surplus() {
		if end := j.pods[j.podName(ordinal)].DeletionTimestamp; end != nil && j.Now.Before(end.Add(j.updateDeadline())) {
			going++
		}
	}
	for _, act := range planned[action.DeletePod](j) {
		if act.Reason == action.DeleteForScaleDown {
			removals++
		}
	}
	if may := j.mayGo(); removals > 0 && going+removals > may {
		j.broke("rate of removal", "%d members are removed while %d are terminating, and %d may be", removals, going, may)
	}
	j.rateUsed(limit-starting, creates)
}

// rateUsed looks at sets whose members nothing else keeps from being created.
func (j *judged) rateUsed(room int, creates []action.CreateMember) {
	if len(j.Set.Spec.VolumeClaimTemplates) > 0 || j.undecided() || j.Set.DeletionTimestamp != nil ||
		j.strategy() == v1.RecreateStatefulSetStrategyType || len(planned[action.AdoptPod](j))+len(planned[action.AdoptRevision](j)) > 0 ||
		j.awaitsRelease() {
		return
	}
	last := -1
	for _, act := range creates {
		last = max(last, act.Ordinal)
	}
	room -= j.preparing(creates)
	for _, ordinal := range j.lacking() {
		created := slices.ContainsFunc(creates, func(a action.CreateMember) bool { return a.Ordinal == ordinal })
		if created || j.pods[j.podName(ordinal)] != nil || j.mayBeUnrenderable(ordinal) {
			continue
		}
		if ordinal < last {
			j.broke("rate order", "member %d is created before member %d", last, ordinal)
		}
		if len(creates) < room {
			j.broke("rate unused", "member %d is not created, although %d more may start", ordinal, room-len(creates))
		}
	}
}

// preparing is how many members have taken their turn without a pod, because what it needs of an
// object is there only when the object is.
func (j *judged) preparing(creates []action.CreateMember) int {
	turns := map[int]bool{}
	for _, act := range planned[action.CreateObject](j) {
		turns[act.Ordinal] = act.Ordinal >= 0 && j.pods[j.podName(act.Ordinal)] == nil
	}
	for _, act := range creates {
		delete(turns, act.Ordinal)
	}
	maps.DeleteFunc(turns, func(_ int, is bool) bool { return !is })
	return len(turns)
}
