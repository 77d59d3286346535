// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package migrate

import (
	"errors"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "statefulset.dev/api/apps/v1"
	"statefulset.dev/identity"
)

// refuseRollout refuses a set that holds an update back from members that no partition describes:
// apps/v1 would update them, too.
func refuseRollout(set *v1.StatefulSet, pods []corev1.Pod) error {
	if set == nil {
		return nil
	}
	if !isRecorded(set) {
		return errors.New(
			"the set holds its update back, and its status does not say yet whom that has reached; wait until the controller has seen the set")
	}
	if set.Status.CurrentRevision == set.Status.UpdateRevision {
		return refuseUndone(set, pods)
	}
	rollout := heldBack(set)
	if rollout == nil {
		return nil
	}
	if rollout.Aborted || rollout.Rollback {
		return fmt.Errorf(
			"the update to %s is rolled back, and apps/v1 would update all members to it; give the set another template first, as kubectl sts rollout undo does", rollout.Revision)
	}
	if _, ok := partitionOf(set, rollout); ok {
		return nil
	}
	reached, left := "", ""
	for ordinal := range identity.OrdinalsOf(set).All() {
		switch name := identity.PodName(set.Name, ordinal); {
		case isIn(rollout.Released, ordinal):
			reached = name
		case reached != "" && left == "":
			left = name
		}
	}
	remedy := "promote or abort the update first"
	if isPaused(set) {
		remedy = "resume the update first"
	}
	return fmt.Errorf("%s runs %s and %s does not: apps/v1 would update all; %s", reached, rollout.Revision, left, remedy)
}

// refuseUndone refuses a set that is paused although its template is the current one again, and
// that has members which the update had reached: apps/v1 would take them back.
func refuseUndone(set *v1.StatefulSet, pods []corev1.Pod) error {
	if !isPaused(set) {
		return nil
	}
	roster, partition := identity.OrdinalsOf(set), 0
	if given := set.Spec.UpdateStrategy.RollingUpdate.Partition; given != nil {
		partition = int(*given)
	}
	for i := range pods {
		name, ordinal, named := identity.ParsePodName(pods[i].Name)
		if !named || name != set.Name || !metav1.IsControlledBy(&pods[i], set) || pods[i].DeletionTimestamp != nil {
			continue
		}
		rank, wanted := roster.Rank(ordinal)
		if revision := pods[i].Labels[identity.RevisionLabel]; wanted && rank >= partition && revision != set.Status.UpdateRevision {
			return fmt.Errorf("%s runs %s and the update is paused: apps/v1 would take it to %s; resume the update first", pods[i].Name, revision,
				set.Status.UpdateRevision)
		}
	}
	return nil
}

func isPaused(set *v1.StatefulSet) bool {
	rolling := set.Spec.UpdateStrategy.RollingUpdate
	return rolling != nil && rolling.IsPaused()
}

// isRecorded reports whether the status says whom an update has reached, if the set holds it back.
func isRecorded(set *v1.StatefulSet) bool {
	if rolling := set.Spec.UpdateStrategy.RollingUpdate; rolling == nil || !rolling.IsPaused() && len(rolling.Steps) == 0 {
		return true
	}
	status := &set.Status
	if status.ObservedGeneration != set.Generation {
		return false
	}
	return status.CurrentRevision == status.UpdateRevision || hasRecord(status)
}

// hasRecord reports whether the status says how far the update has come.
func hasRecord(status *v1.StatefulSetStatus) bool {
	rollout := status.Rollout
	return rollout != nil && rollout.Revision == status.UpdateRevision && rollout.Step != 0
}

// heldBack is what the status says of an update that apps/v1 would take to all members at once,
// and the set does not; nil if there is none.
func heldBack(set *v1.StatefulSet) *v1.RolloutStatus {
	if set.Status.CurrentRevision == set.Status.UpdateRevision || !hasRecord(&set.Status) {
		return nil
	}
	rolling, rollout := set.Spec.UpdateStrategy.RollingUpdate, set.Status.Rollout
	inSteps := rolling != nil && int(rollout.Step) <= len(rolling.Steps) && !rollout.PromotedAll
	if isPaused(set) || inSteps || rollout.Aborted || rollout.Rollback {
		return rollout
	}
	return nil
}

// partitionOf is the number of members, from the first, that the update has not reached; false
// if it has reached one before one that it has not.
func partitionOf(set *v1.StatefulSet, rollout *v1.RolloutStatus) (partition int32, ok bool) {
	above := false
	for ordinal := range identity.OrdinalsOf(set).All() {
		switch reached := isIn(rollout.Released, ordinal); {
		case reached:
			above = true
		case above:
			return 0, false
		default:
			partition++
		}
	}
	return partition, true
}

func isIn(ranges []v1.OrdinalRange, ordinal int) bool {
	return slices.ContainsFunc(ranges, func(r v1.OrdinalRange) bool { return r.Contains(ordinal) })
}
