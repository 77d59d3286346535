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

// refuseRollout refuses a set with an update that has not reached members which a partition cannot
// describe: apps/v1 would update them, too.
func refuseRollout(set *v1.StatefulSet, pods []corev1.Pod) error {
	if set == nil {
		return nil
	}
	if !isRecorded(set) {
		return errors.New(
			"the update is paused or has steps, and the status does not record yet which members it has reached; wait until the controller has observed the set")
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
			"the update to %s is rolled back, and apps/v1 would update all members to it; first change the template, for example with kubectl sts rollout undo", rollout.Revision)
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
	return fmt.Errorf("%s runs %s and %s does not: apps/v1 would update all members; %s", reached, rollout.Revision, left, remedy)
}

// refuseUndone refuses a paused set whose template was reverted to the current revision, but that
// has members which the update had reached: apps/v1 would revert them.
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
			return fmt.Errorf("%s runs %s and the update is paused: apps/v1 would return it to %s; resume the update first", pods[i].Name, revision,
				set.Status.UpdateRevision)
		}
	}
	return nil
}

func isPaused(set *v1.StatefulSet) bool {
	rolling := set.Spec.UpdateStrategy.RollingUpdate
	return rolling != nil && rolling.IsPaused()
}

// isRecorded reports whether the status of a set that is paused or has steps records which members
// the update has reached.
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

// hasRecord reports whether the status records the progress of the update.
func hasRecord(status *v1.StatefulSetStatus) bool {
	rollout := status.Rollout
	return rollout != nil && rollout.Revision == status.UpdateRevision && rollout.Step != 0
}

// heldBack returns the status of an update that apps/v1 would continue to all members, while the
// set does not; nil if there is none.
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

// partitionOf returns how many of the first members the update has not reached. It returns false if
// the update has reached a member below one that it has not reached.
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
