// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package outcome

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"

	v1 "statefulset.dev/api/apps/v1"
)

// turns is the oracle for docs/update-order.md: an update replaces serving members in the order
// that the set specifies, by default the highest ordinal first, and a member that comes last waits
// for the others.
type turns struct {
	versions
	// found are the violations of the current sync. They count only if no write was refused.
	found []string
	// owning are the pods that own claims, or did so in the current sync.
	owning map[types.UID]bool
	// passed contains, for each member that a step has reached, the members that came after it
	// then.
	passed map[int]map[int]bool
}

func newTurns() *turns {
	return &turns{versions: newVersions(), owning: map[types.UID]bool{}, passed: map[int]map[int]bool{}}
}

func (*turns) name() string { return "turn" }

func (o *turns) changed(_ *Judge, before, after *Scene, by Actor) {
	if by == Controller && before != nil && before.Set != nil && o.clear(after.Set) && o.orders(after.Set) {
		then := *before
		then.Now = after.Now
		for _, name := range slices.Sorted(maps.Keys(before.Pods)) {
			was, now := before.Pods[name], after.Pods[name]
			n, is := ordinal(after.Set, name)
			if is && was != now && o.isJudged(after.Set, n, was) && begins(was, now) {
				o.judge(&then, n, was)
			}
		}
	}
	o.see(after, by)
	o.seeOwners(after)
	o.seePassed(after)
}

// seePassed records which members come after those that a step has just reached. That counts while
// these are reached, whatever the order is later.
func (o *turns) seePassed(now *Scene) {
	if now.Set == nil {
		return
	}
	for _, n := range desired(now.Set) {
		if !isReleased(now.Set, n) {
			delete(o.passed, n)
			continue
		}
		if o.passed[n] != nil {
			continue
		}
		o.passed[n] = map[int]bool{}
		for _, m := range desired(now.Set) {
			o.passed[n][m] = turnOf(now.Set, n, now.podOf(n)).compare(turnOf(now.Set, m, now.podOf(m))) < 0
		}
	}
}

func (o *turns) synced(j *Judge, now *Scene, sync Sync) {
	if sync.Clean && len(o.found) > 0 {
		j.broken(o, "%s", o.found[0])
	}
	o.found = nil
	clear(o.owning)
	o.seeOwners(now)
}

func (o *turns) seeOwners(now *Scene) {
	for _, claim := range now.Claims {
		for _, owner := range claim.OwnerReferences {
			o.owning[owner.UID] = true
		}
	}
}

// orders reports whether only the order decides which member is first. If claims, objects or
// overrides must change first, or disruption budgets decide, other members may precede.
func (*turns) orders(set *v1.StatefulSet) bool {
	rolling := set.Spec.UpdateStrategy.RollingUpdate
	return works(set) && set.Spec.UpdateStrategy.Type == v1.RollingUpdateStatefulSetStrategyType &&
		set.Spec.VolumeClaimUpdate == nil && len(set.Spec.ObjectTemplates) == 0 && len(set.Spec.Overrides) == 0 && set.Spec.Identity == nil &&
		(set.Spec.Disruption == nil || set.Spec.Disruption.Method != v1.EvictDisruptionMethodType) &&
		(rolling == nil || rolling.InPlace == nil)
}

// isJudged reports whether a pod serves and is removed from service only for the update.
func (o *turns) isJudged(set *v1.StatefulSet, n int, pod *corev1.Pod) bool {
	return isReady(pod) && pod.DeletionTimestamp == nil && !isTaken(pod) && isDesired(set, n) && !isToBeReplaced(set, pod) &&
		version(&pod.Spec) == o.whole
}

// begins reports whether a change is the first that removes a pod from service.
func begins(was, now *corev1.Pod) bool { return taken(was, now) != "" }

// judge records whether other members precede a member that is removed from service.
func (o *turns) judge(before *Scene, n int, was *corev1.Pod) {
	turn := turnOf(before.Set, n, was)
	for _, m := range desired(before.Set) {
		other := before.podOf(m)
		if m == n || o.passed[n][m] && !isReleased(before.Set, m) {
			continue
		}
		earlier := turnOf(before.Set, m, other)
		switch {
		case earlier.class < turn.class && !before.isAvailable(other):
			o.note("last: pod %s (%s) was updated, although member %d, which comes before it, is unavailable", was.Name, turn.text(), m)
		case other == nil || !o.waits(before, m, other) || earlier.compare(turn) >= 0:
		case earlier.class < turn.class:
			o.note("last: pod %s (%s) was updated before pod %s (%s)", was.Name, turn.text(), other.Name, earlier.text())
		default:
			o.note("order: pod %s (%s) was updated before pod %s (%s)", was.Name, turn.text(), other.Name, earlier.text())
		}
	}
}

func (o *turns) note(format string, args ...any) {
	o.found = append(o.found, fmt.Sprintf(format, args...))
}

// waits reports whether a pod serves and is not updated yet. A pod that owned a claim when the sync
// began stays until the next sync, and delays no other pod.
func (o *turns) waits(s *Scene, n int, pod *corev1.Pod) bool {
	return o.isJudged(s.Set, n, pod) && s.isAvailable(pod) && n >= startOf(s.Set)+partitionOf(s.Set) && !o.owning[pod.UID]
}

// turn is the position of a member in the update order: lower classes, places and ranks come first.
type turn struct{ class, place, rank int }

func (t turn) compare(other turn) int {
	return cmp.Or(cmp.Compare(t.class, other.class), cmp.Compare(t.place, other.place), cmp.Compare(t.rank, other.rank))
}

func (t turn) text() string {
	switch {
	case t.class > 0:
		return fmt.Sprintf("selector %d of last", t.class)
	case t.place < 0:
		return "first"
	}
	return "neither first nor last"
}

// turnOf returns the turn of a member, with the labels of its pod, if it has one.
func turnOf(set *v1.StatefulSet, n int, pod *corev1.Pod) turn {
	order := orderOf(set)
	t := turn{rank: -n}
	if order.Direction == v1.AscendingUpdateDirectionType {
		t.rank = n
	}
	if i := slices.IndexFunc(order.First, func(r v1.OrdinalRange) bool { return covers(r, n) }); i >= 0 {
		t.place = i - len(order.First)
	}
	for i := range order.Last {
		if pod != nil && selects(&order.Last[i], pod) {
			t.class = i + 1
		}
	}
	return t
}

// orderOf returns the update order of a set.
func orderOf(set *v1.StatefulSet) v1.UpdateOrder {
	if rolling := rollingOf(set); rolling != nil && rolling.Order != nil {
		return *rolling.Order
	}
	return v1.UpdateOrder{}
}

func selects(selector *metav1.LabelSelector, pod *corev1.Pod) bool {
	s, err := metav1.LabelSelectorAsSelector(selector)
	return err == nil && s.Matches(labels.Set(pod.Labels))
}
