// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package outcome

import (
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	v1 "statefulset.dev/api/apps/v1"
)

// held is the oracle for point 14 of docs/reliability.md ("A broken pod is updated whatever its
// claims wait for") and for docs/disruption.md ("A request stays open when the pod stops being
// ready"): an update reaches the pods that it can fix, and continues when a pod has handed over.
type held struct {
	// handing are the pods that stopped being ready while their gates were asked or they were
	// drained, and which of both.
	handing map[types.UID]string
	// outdated are the open requests to the gates of pods at the time when the set was changed.
	outdated map[types.UID]int64
	// updates are the requests about an update, with the members that the set wanted at the time.
	updates map[types.UID]update
}

type update struct {
	id      int64
	members []int
}

func newHeld() *held {
	return &held{handing: map[types.UID]string{}, outdated: map[types.UID]int64{}, updates: map[types.UID]update{}}
}

func (*held) name() string { return "held" }

func (o *held) changed(_ *Judge, before, after *Scene, by Actor) {
	o.seeUpdates(after)
	if before == nil {
		return
	}
	if by == User && before.Set != nil && after.Set != nil && before.Set.Generation != after.Set.Generation {
		o.outdate(after)
	}
	for name, pod := range after.Pods {
		was := before.Pods[name]
		switch {
		case isReady(pod):
			delete(o.handing, pod.UID)
		case was == nil || was.UID != pod.UID || by != Cluster || !is(was, corev1.ContainersReady) && !isReady(was):
		case was.Annotations[v1.DisruptionAnnotation] != "":
			o.handing[pod.UID] = "asked"
		case isDrained(was):
			o.handing[pod.UID] = "drained"
		}
	}
}

// outdate records that requests to gates may be out of date.
func (o *held) outdate(now *Scene) {
	clear(o.handing)
	for _, pod := range now.Pods {
		if asked, open := askedOf(pod); open {
			o.outdated[pod.UID] = asked.ID
		}
	}
}

// isWithdrawn reports whether the request that a pod had when the set was changed is no longer
// open.
func (o *held) isWithdrawn(pod *corev1.Pod) bool {
	asked, open := askedOf(pod)
	before, was := o.outdated[pod.UID]
	return was && (!open || asked.ID != before)
}

// inService is the condition with which a set drains a pod, docs/in-place.md.
const inService = v1.GroupName + "/in-service"

func isDrained(pod *corev1.Pod) bool {
	return slices.ContainsFunc(pod.Status.Conditions, func(c corev1.PodCondition) bool {
		return c.Type == inService && c.Status == corev1.ConditionFalse
	})
}

func (o *held) rested(j *Judge, now *Scene) { //nolint:gocyclo // each condition is one reason to say nothing
	set := now.Set
	if !works(set) || !isFree(set) || len(set.Spec.ObjectTemplates) > 0 || set.Spec.Identity != nil || len(set.Spec.Overrides) > 0 ||
		!updatesAll(set) || now.Skew != 0 {
		return
	}
	for _, name := range slices.Sorted(maps.Keys(now.Pods)) {
		n, is := ordinal(set, name)
		pod := now.podOf(n)
		if !is || !isDesired(set, n) || pod == nil || pod.DeletionTimestamp != nil || isReady(pod) ||
			revisionOf(pod) == set.Status.UpdateRevision {
			continue
		}
		how := o.handing[pod.UID]
		switch {
		case !isOrdered(set) && how == "" && now.claimsAre(n):
			j.broken(o, "%s: pod %s is not ready, and is not updated", o.cause(now), name)
		case isOrdered(set) && now.anyEnds() && o.followsScaleIn(set, pod):
		case how != "" && now.othersAvailable(n) && (how != "asked" || !o.isWithdrawn(pod)):
			j.broken(o, "%s: pod %s stopped being ready when it had to hand over, but the update does not continue", how, name)
		}
	}
}

// seeUpdates records whose gates are asked about an update, and which members the set wanted when
// that began.
func (o *held) seeUpdates(now *Scene) {
	for _, pod := range now.Pods {
		asked, open := askedOf(pod)
		known, is := o.updates[pod.UID]
		switch {
		case now.Set == nil || !open || asked.Operation != v1.UpdateDisruptionOperationType:
			delete(o.updates, pod.UID)
		case !is || known.id != asked.ID:
			o.updates[pod.UID] = update{asked.ID, desired(now.Set)}
		}
	}
}

// followsScaleIn reports whether the gates of a pod were asked about an update while the same
// members were surplus. An ordered set completes its scale-in first, as in apps/v1.
func (o *held) followsScaleIn(set *v1.StatefulSet, pod *corev1.Pod) bool {
	asked, is := o.updates[pod.UID]
	return is && slices.Equal(asked.members, desired(set))
}

// cause returns in a word what may delay an update.
func (*held) cause(now *Scene) string {
	for _, claim := range now.Claims {
		if len(claim.Status.AllocatedResourceStatuses) > 0 {
			return "growth"
		}
	}
	return "nothing"
}

// claimsAre reports whether no claim of a member is terminating.
func (s *Scene) claimsAre(n int) bool {
	for name, claim := range s.Claims {
		if m, is := member(s.Set, name); is && m == n && claim.DeletionTimestamp != nil {
			return false
		}
	}
	return true
}

func (s *Scene) othersAvailable(n int) bool {
	return !slices.ContainsFunc(desired(s.Set), func(m int) bool { return m != n && !s.isAvailable(s.podOf(m)) })
}

func revisionOf(pod *corev1.Pod) string { return pod.Labels["controller-revision-hash"] }

// updatesAll reports whether nothing prevents members of a set from reaching its update revision.
func updatesAll(set *v1.StatefulSet) bool {
	rolling := set.Spec.UpdateStrategy.RollingUpdate
	if set.Spec.UpdateStrategy.Type != v1.RollingUpdateStatefulSetStrategyType {
		return false
	}
	if set.Spec.Disruption != nil && set.Spec.Disruption.Method == v1.EvictDisruptionMethodType {
		return false
	}
	if rolling == nil {
		return set.Status.Rollout == nil
	}
	return (rolling.Partition == nil || *rolling.Partition == 0) && (rolling.Paused == nil || !*rolling.Paused) &&
		len(rolling.Steps) == 0 && rolling.FailurePolicy == nil &&
		rolling.Order == nil && (rolling.InPlace == nil || rolling.InPlace.Policy != v1.OnlyInPlaceUpdatePolicyType)
}
