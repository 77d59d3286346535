//go:build faults

// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package crash

import (
	"fmt"
	"slices"
	"strings"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "statefulset.dev/api/apps/v1"
	"statefulset.dev/test/faults/internal/scenarios"
)

// outOfOrder finds ordered members that were created although there was no moment,
// since the ordinal was last empty, at which all members before it were ready.
func outOfOrder(j judged) []violation {
	var found []violation
	ready := map[int]bool{}
	// allowed are the empty ordinals for which there was such a moment.
	allowed := map[int]bool{}
	present := map[int]bool{}
	for _, r := range j.records {
		if r.kind != pods {
			continue
		}
		pod := r.object.(*corev1.Pod)
		ordinal := ordinalOf(pod.Name)
		around := j.setsAround(r.at)
		if r.verb == created {
			if !allowed[ordinal] && !mayCreate(around, ordinal, ready) {
				found = append(found,
					violation{inOrder, fmt.Sprintf("pod %s was created at version %d: got ready members %v, want all before it ready at once",
						pod.Name, r.version, readyOnes(ready))})
			}
			present[ordinal] = true
			delete(allowed, ordinal)
		}
		if r.verb == gone {
			delete(present, ordinal)
		}
		ready[ordinal] = r.verb != gone && isReady(pod)
		for i := range 16 {
			if !present[i] && mayCreate(around, i, ready) {
				allowed[i] = true
			}
		}
	}
	return found
}

// mayCreate reports whether one of the sets creates the member of an ordinal while some are
// ready: a Parallel one does at any time, an ordered one when all before it are ready.
func mayCreate(sets []*v1.StatefulSet, ordinal int, ready map[int]bool) bool {
	return slices.ContainsFunc(sets, func(set *v1.StatefulSet) bool {
		if set.Spec.PodManagementPolicy == v1.ParallelPodManagement {
			return true
		}
		return !slices.ContainsFunc(scenarios.Wanted(set), func(before int) bool { return before < ordinal && !ready[before] })
	})
}

func readyOnes(ready map[int]bool) []int {
	var ones []int
	for i, is := range ready {
		if is {
			ones = append(ones, i)
		}
	}
	slices.Sort(ones)
	return ones
}

// wantedAround reports whether the ordinal of the pod is one of its set's, around a time.
func (j judged) wantedAround(t time.Time, pod *corev1.Pod) bool {
	around := j.setsAround(t)
	return len(around) > 0 && !slices.ContainsFunc(around, func(set *v1.StatefulSet) bool {
		return !owns(set, pod) || set.DeletionTimestamp != nil || !slices.Contains(scenarios.Wanted(set), ordinalOf(pod.Name))
	}) && !j.setGoneBy(t)
}

func (j judged) setGoneBy(t time.Time) bool {
	gone := false
	for _, r := range j.records {
		if r.kind == sets && !r.at.After(t.Add(slack)) {
			gone = r.verb == "gone"
		}
	}
	return gone
}

// claimsLost finds claims that went, or were given an owner, although neither the policy of the scenario
// nor that of the set by then says so for their ordinals.
func claimsLost(j judged) []violation {
	policy := appsv1.StatefulSetPersistentVolumeClaimRetentionPolicy{}
	if given := j.scenario.Set.Spec.PersistentVolumeClaimRetentionPolicy; given != nil {
		policy = *given
	}
	const remove = appsv1.DeletePersistentVolumeClaimRetentionPolicyType
	var found []violation
	for _, r := range j.records {
		if r.kind != claims {
			continue
		}
		taken := r.verb == deleting || r.verb == gone || len(r.object.GetOwnerReferences()) > 0
		switch {
		case !taken, policy.WhenDeleted == remove:
		case policy.WhenScaled == remove && j.condemnedAround(r.at, ordinalOf(r.object.GetName())):
		case j.retiredAround(r.at, r.object):
		default:
			found = append(found, violation{claimsKept, fmt.Sprintf("claim %s at version %d: got %s with owners %v, want it kept and nobody's",
				r.object.GetName(), r.version, r.verb, r.object.GetOwnerReferences())})
		}
	}
	return found
}

// retiredAround reports whether a claim goes some time after its member was removed. It may be terminating
// still when the member is wanted again.
func (j judged) retiredAround(t time.Time, claim metav1.Object) bool {
	retires := func(set *v1.StatefulSet) bool {
		policy := set.Spec.PersistentVolumeClaimRetentionPolicy
		return policy != nil && policy.ScaledAfterSeconds != nil && policy.WhenScaled == v1.DeletePersistentVolumeClaimRetentionPolicyType
	}
	begun := t
	for _, r := range j.records {
		if r.kind == claims && r.verb == deleting && r.object.GetUID() == claim.GetUID() {
			begun = r.at
		}
	}
	return slices.ContainsFunc(j.setsAround(begun), retires) && j.condemnedAround(begun, ordinalOf(claim.GetName()))
}

func (j judged) condemnedAround(t time.Time, ordinal int) bool {
	return slices.ContainsFunc(j.setsAround(t), func(set *v1.StatefulSet) bool {
		return !slices.Contains(scenarios.Wanted(set), ordinal)
	})
}

// claimsUnsound finds pods that were created while a claim of theirs was not there, was
// going, or belonged to what is gone.
func claimsUnsound(j judged) []violation {
	var found []violation
	for _, r := range j.records {
		if r.kind != pods || r.verb != created {
			continue
		}
		for _, volume := range r.object.(*corev1.Pod).Spec.Volumes {
			if volume.PersistentVolumeClaim == nil {
				continue
			}
			name := volume.PersistentVolumeClaim.ClaimName
			if wrong := j.claimWrong(name, r.version, r.at); wrong != "" {
				found = append(found, violation{claimsSound, fmt.Sprintf("pod %s was created at version %d, and claim %s %s",
					r.object.GetName(), r.version, name, wrong)})
			}
		}
	}
	return found
}

// claimWrong says what is wrong with a claim at a version, empty if nothing is.
func (j judged) claimWrong(name string, version int64, t time.Time) string {
	wrong := "is not there"
	for _, r := range j.records {
		if r.kind != claims || r.object.GetName() != name || r.version >= version {
			continue
		}
		switch {
		case r.verb == gone:
			wrong = "is gone"
		case r.object.GetDeletionTimestamp() != nil:
			wrong = "is terminating"
		default:
			wrong = j.staleOwner(r, t)
		}
	}
	return wrong
}

// staleOwner says which owner of a claim is neither the set, as it was around a time,
// nor a pod that lives.
func (j judged) staleOwner(claim record, t time.Time) string {
	var stale []string
	for _, owner := range claim.object.GetOwnerReferences() {
		if !j.lives(string(owner.UID), t) {
			stale = append(stale, fmt.Sprintf("%s %s, UID %s", owner.Kind, owner.Name, owner.UID))
		}
	}
	if stale == nil {
		return ""
	}
	return "has an owner that is gone: " + strings.Join(stale, ", ")
}

// lives reports whether an object was there at a time, or right after or before it.
func (j judged) lives(uid string, t time.Time) bool {
	there := false
	for _, r := range j.records {
		if string(r.object.GetUID()) != uid || r.at.After(t.Add(slack)) {
			continue
		}
		there = r.verb != gone || r.at.After(t.Add(-slack))
	}
	return there
}

func isReady(pod *corev1.Pod) bool {
	return pod.DeletionTimestamp == nil && pod.Status.Phase == corev1.PodRunning &&
		slices.ContainsFunc(pod.Status.Conditions, func(condition corev1.PodCondition) bool {
			return condition.Type == corev1.PodReady && condition.Status == corev1.ConditionTrue
		})
}
