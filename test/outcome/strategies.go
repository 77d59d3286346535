// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package outcome

import (
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"

	v1 "statefulset.dev/api/apps/v1"
)

// strategies is the oracle for the other types of update strategies: with OnDelete, the controller
// removes no pod for an update, and with Recreate, two versions never run at the same time.
type strategies struct{}

func newStrategies() *strategies { return &strategies{} }

func (*strategies) name() string { return "strategy" }

func (o *strategies) changed(j *Judge, before, after *Scene, by Actor) {
	if by != Controller || before == nil || before.Set == nil || !works(after.Set) {
		return
	}
	switch after.Set.Spec.UpdateStrategy.Type {
	case v1.OnDeleteStatefulSetStrategyType:
		for _, name := range slices.Sorted(maps.Keys(before.Pods)) {
			o.judgeRemoval(j, after, before.Pods[name], after.Pods[name])
		}
	case v1.RecreateStatefulSetStrategyType:
		for _, name := range slices.Sorted(maps.Keys(after.Pods)) {
			if pod := after.Pods[name]; before.Pods[name] == nil || before.Pods[name].UID != pod.UID {
				o.judgeCreation(j, after, pod)
			}
		}
	case v1.RollingUpdateStatefulSetStrategyType: // other oracles judge it
	}
}

// judgeRemoval judges the removal of a pod with OnDelete. A set may remove pods because of its
// claims, overrides and objects, and because a user requests it.
func (o *strategies) judgeRemoval(j *Judge, after *Scene, was, now *corev1.Pod) {
	set := after.Set
	n, is := ordinal(set, was.Name)
	gone := now == nil || now.UID != was.UID || now.DeletionTimestamp != nil
	others := len(set.Spec.VolumeClaimTemplates) > 0 || len(was.Spec.Volumes) > 0 || len(set.Spec.Overrides) > 0 ||
		len(set.Spec.ObjectTemplates) > 0
	asked := slices.ContainsFunc(set.Status.Replacements, func(r v1.MemberReplacement) bool { return r.PodUID == was.UID })
	_, restarts := was.Annotations[v1.InPlaceAnnotation]
	if !is || !gone || others || asked || restarts || !isDesired(set, n) || hasEnded(was) || was.DeletionTimestamp != nil ||
		was.Annotations[v1.OverrideAnnotation] != "" {
		return
	}
	j.broken(o, "OnDelete removed pod %s at %s for an update to %s", was.Name, version(&was.Spec), version(&set.Spec.Template.Spec))
}

// judgeCreation judges the creation of a pod with Recreate.
func (o *strategies) judgeCreation(j *Judge, after *Scene, pod *corev1.Pod) {
	for _, name := range slices.Sorted(maps.Keys(after.Pods)) {
		n, is := ordinal(after.Set, name)
		if other := after.podOf(n); is && other != nil && !hasEnded(other) && version(&other.Spec) != version(&pod.Spec) {
			j.broken(o, "Recreate created pod %s at %s while pod %s runs at %s", pod.Name, version(&pod.Spec), name, version(&other.Spec))
			return
		}
	}
}
