// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package outcome

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	v1 "statefulset.dev/api/apps/v1"
)

// replacements forgets no request to replace a member, and fulfils each (docs/scaling.md, "Replacing
// members").
type replacements struct{}

func (replacements) name() string { return "replacement" }

// changed finds requests that the controller drops while the pod that they are about stays.
func (o replacements) changed(j *Judge, before, after *Scene, by Actor) {
	if by != Controller || before == nil || before.Set == nil || after.Set == nil || before.Set.UID != after.Set.UID {
		return
	}
	for _, request := range before.Set.Status.Replacements {
		if pod := o.waits(after, request); pod != nil && !isRequested(after.Set, request.PodUID) {
			j.broken(o, "forgotten: pod %s was to be replaced, is still there, and is no more in status.replacements", pod.Name)
		}
	}
}

// rested finds requests that have not been fulfilled although nothing is in the way.
func (o replacements) rested(j *Judge, now *Scene) {
	if !works(now.Set) || condition(now.Set, v1.StatefulSetStalled).Status == corev1.ConditionTrue {
		return
	}
	for _, n := range desired(now.Set) {
		if !now.isAvailable(now.podOf(n)) {
			return
		}
	}
	for _, request := range now.Set.Status.Replacements {
		if pod := o.waits(now, request); pod != nil {
			j.broken(o, "pending: pod %s was to be replaced, all members are available, and nothing happens any more", pod.Name)
		}
	}
}

// waits is the pod that a request is about, nil if that is gone, is on its way, or is replaced anyhow.
func (replacements) waits(now *Scene, request v1.MemberReplacement) *corev1.Pod {
	if !isDesired(now.Set, int(request.Ordinal)) {
		return nil
	}
	pod := now.podOf(int(request.Ordinal))
	if pod == nil || pod.UID != request.PodUID || pod.DeletionTimestamp != nil || pod.Status.Phase == corev1.PodFailed ||
		pod.Status.Phase == corev1.PodSucceeded {
		return nil
	}
	return pod
}

func isRequested(set *v1.StatefulSet, pod types.UID) bool {
	return slices.ContainsFunc(set.Status.Replacements, func(r v1.MemberReplacement) bool { return r.PodUID == pod })
}
