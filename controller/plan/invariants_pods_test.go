// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "statefulset.dev/api/apps/v1"
	"statefulset.dev/controller/plan/action"
)

// creates: only wanted members are created, under their own name, labels and owner,
// and only when no pod of the name is left, whoever's it is.
func (j *judged) creates() {
	created := map[string]bool{}
	for _, act := range planned[action.CreateMember](j) {
		pod := act.Pod
		if pod.Name != j.podName(act.Ordinal) || !j.wanted(act.Ordinal) || created[pod.Name] {
			j.broke("member", "pod %s is created for ordinal %d of %v", pod.Name, act.Ordinal, j.ordinals)
		}
		created[pod.Name] = true
		if old := j.pods[pod.Name]; old != nil {
			j.broke("old one gone", "pod %s is created while that with UID %s exists, deleted at %v", pod.Name, old.UID, old.DeletionTimestamp)
		}
		if !j.mine(pod) || metav1.GetControllerOfNoCopy(pod) == nil || pod.Labels["statefulset.kubernetes.io/pod-name"] != pod.Name {
			j.broke("identity", "pod %s is created with the labels %v and the owners %v", pod.Name, pod.Labels, pod.OwnerReferences)
		}
	}
}

// createsInOrder: an ordered set creates one member at a time, and none while one
// of a lower ordinal does not serve, but for one that is being replaced out of turn.
func (j *judged) createsInOrder() {
	creates := slices.DeleteFunc(planned[action.CreateMember](j), func(a action.CreateMember) bool { return a.Ordinal == j.named() })
	if !j.ordered() || len(creates) == 0 {
		return
	}
	scaled := len(creates)
	for _, act := range planned[action.DeletePod](j) {
		if !forUpdate(act) && act.Reason != action.DeleteOnRequest && !isGivenUp(act) && act.Ordinal != j.named() {
			scaled++
		}
	}
	if scaled > 1 {
		j.broke("one at a time", "an ordered set creates and removes %d members at once", scaled)
	}
	for _, ordinal := range j.ordinals {
		if ordinal < creates[0].Ordinal && !j.stays(ordinal) && !j.isLeaving(ordinal) {
			j.broke("predecessor", "pod %s is created while member %d does not serve", creates[0].Pod.Name, ordinal)
		}
	}
}

// recreatesAtOnce: the strategy Recreate removes its old pods in one step, so that one
// that cannot be removed holds up none of the others.
func (j *judged) recreatesAtOnce() {
	if j.strategy() != v1.RecreateStatefulSetStrategyType {
		return
	}
	steps := 0
	for _, step := range j.plan.Steps() {
		if slices.ContainsFunc(step, func(act action.Action) bool { a, ok := act.(action.DeletePod); return ok && forUpdate(a) }) {
			steps++
		}
	}
	if steps > 1 {
		j.broke("at once", "the old pods are removed in %d steps: %v", steps, j.plan.Steps())
	}
}

// chains: what is done for one member rests on nothing that is done for another, except
// that an ordered set takes its members out of service in order.
func (j *judged) chains() {
	for _, chain := range j.plan.Chains {
		for len(chain) > 1 && isCreateObject(chain[0]) {
			chain = chain[1:]
		}
		update := !slices.ContainsFunc(chain, func(act action.Action) bool { return !advancesUpdate(act) })
		if inOrder := update && j.ordered() && j.strategy() == v1.RollingUpdateStatefulSetStrategyType; len(chain) > 1 && !inOrder {
			j.broke("chains", "one refusal would hold up the rest of %v", chain)
		}
	}
}

func isCreateObject(act action.Action) bool { _, is := act.(action.CreateObject); return is }

// advancesUpdate reports whether an action is one of those that an update is made of.
func advancesUpdate(act action.Action) bool {
	switch a := act.(type) {
	case action.DeletePod:
		return forUpdate(a)
	case action.UpdateInPlace, action.PatchPod, action.SetPodConditions:
		return true
	default:
		return false
	}
}

// membership: only what nobody controls and matches is adopted, only what does not
// match is released, and only the labels of members are repaired.
func (j *judged) membership() {
	for _, act := range planned[action.AdoptPod](j) {
		if pod := j.pods[act.Pod.Name]; pod != nil && (!j.mine(pod) || metav1.GetControllerOfNoCopy(pod) != nil) {
			j.broke("membership", "pod %s is adopted", pod.Name)
		}
	}
	for _, act := range planned[action.ReleasePod](j) {
		pod := j.pods[act.Pod.Name]
		if pod == nil {
			continue
		}
		if controller := metav1.GetControllerOfNoCopy(pod); controller == nil || controller.UID != j.Set.UID || j.mine(pod) {
			j.broke("membership", "pod %s is released", pod.Name)
		}
	}
	for _, act := range planned[action.RepairPod](j) {
		if pod := j.pods[act.Pod.Name]; pod != nil && (!j.mine(pod) || pod.Labels["statefulset.kubernetes.io/pod-name"] == pod.Name) {
			j.broke("membership", "pod %s is relabelled", pod.Name)
		}
	}
}

// deletes: every removal is of a member that is not on its way already, and for
// the reason that it gives.
func (j *judged) deletes() {
	for _, act := range planned[action.DeletePod](j) {
		pod := j.pods[act.Pod.Name]
		if pod == nil {
			continue
		}
		ordinal := j.ordinalOf(pod.Name)
		if !j.mine(pod) || pod.DeletionTimestamp != nil || ordinal != act.Ordinal {
			j.broke("delete", "%s, which is owned by %v, labelled %v, terminating since %v", act, pod.OwnerReferences, pod.Labels,
				pod.DeletionTimestamp)
		}
		ok := false
		switch act.Reason {
		case action.DeleteForScaleDown:
			ok = !j.wanted(ordinal)
		case action.DeleteFinished:
			ok = pod.Status.Phase == corev1.PodFailed || pod.Status.Phase == corev1.PodSucceeded
		case action.DeleteForUpdate:
			ok = j.mayTake(pod, ordinal) && pod.Labels["controller-revision-hash"] != j.plan.Status.UpdateRevision
		case action.DeleteForRollback:
			ok = j.goesBack() && j.wanted(ordinal) && pod.Labels["controller-revision-hash"] == j.plan.Status.UpdateRevision
		case action.DeleteForClaims:
			ok = j.mayTake(pod, ordinal) && j.isMountingOtherwise(ordinal)
		case action.DeleteForOverride:
			ok = j.mayTake(pod, ordinal) && j.isOverridden(ordinal)
		case action.DeleteOnRequest:
			ok = j.wanted(ordinal) && j.asked(pod)
		case action.DeleteUnrestarted, action.DeleteUnresized:
			ok = j.isVain(pod, ordinal)
		case action.DeleteUnready:
			ok = j.mayUnblock(pod, ordinal)
		}
		if !ok {
			j.broke("reason to delete", "%s", act)
		}
	}
}

// forUpdate reports whether a pod is removed because it is otherwise than a new one would be.
func forUpdate(act action.DeletePod) bool {
	return act.Reason == action.DeleteForUpdate || act.Reason == action.DeleteForClaims || act.Reason == action.DeleteForOverride ||
		act.Reason == action.DeleteForRollback
}

// mayTake reports whether an update may remove a pod now: where it goes by the status, that
// has named the member before, and still does.
func (j *judged) mayTake(pod *corev1.Pod, ordinal int) bool {
	if j.goesBack() {
		return j.wanted(ordinal) && (pod.Labels["controller-revision-hash"] == j.plan.Status.UpdateRevision || j.isMisshapen(ordinal))
	}
	if !j.mayUpdate(pod, ordinal) || !j.byRecord() {
		return j.mayUpdate(pod, ordinal)
	}
	if j.isReached(ordinal) {
		return names(j.plan.Status.Rollout.Released, ordinal)
	}
	return j.isMisshapen(ordinal) && !names(j.record().Superseded, ordinal)
}

// mayUpdate reports whether the strategy lets an update remove a pod at all.
func (j *judged) mayUpdate(pod *corev1.Pod, ordinal int) bool {
	if pod.Labels["controller-revision-hash"] == j.plan.Status.UpdateRevision && !j.isMisshapen(ordinal) {
		return false
	}
	switch j.strategy() {
	case v1.RecreateStatefulSetStrategyType:
		return true
	case v1.RollingUpdateStatefulSetStrategyType:
		return j.wanted(ordinal) && j.isAbovePartition(ordinal)
	default:
		return false
	}
}

func (j *judged) allServe(act action.DeletePod) {
	for _, ordinal := range j.ordinals {
		if !j.serves(ordinal) && !j.isLeaving(ordinal) {
			j.broke("predecessor", "%s while member %d does not serve", act, ordinal)
		}
	}
}

// updatesInPeace: an ordered set takes no member from service for an update while any does not serve. How many
// others may, the outcome oracles judge.
func (j *judged) updatesInPeace() {
	if !j.ordered() || j.strategy() != v1.RollingUpdateStatefulSetStrategyType {
		return
	}
	for _, act := range j.updatesBegun() {
		j.allServe(act)
	}
}
