// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"

	v1 "statefulset.dev/api/apps/v1"
)

// statusEvents are events about what the status that was just written newly reports: completed
// steps, rollbacks, requests of users, claims that have grown. They are derived from the previous
// status and not from memory, so that a controller that takes over does not repeat events.
func statusEvents(set *v1.StatefulSet, after *v1.StatefulSetStatus) (events []event) {
	before := &set.Status
	if isRolledBack(after.Rollout) && !isRolledBack(before.Rollout) {
		events = append(events, event{eventType: corev1.EventTypeNormal, reason: v1.ReasonRolloutRolledBack,
			text: fmt.Sprintf("The update to %s was rolled back: no member runs it any more", after.Rollout.Revision)})
	}
	if step := stepDone(before.Rollout, after.Rollout); step > 0 {
		events = append(events, event{eventType: corev1.EventTypeNormal, reason: v1.ReasonRolloutStepDone,
			text: fmt.Sprintf("Step %d/%d is done: %d of %d at %s", step, stepsOf(set), after.UpdatedReplicas, after.Replicas,
				after.Rollout.Revision)})
	}
	events = append(events, userActionEvents(set, after)...)
	for i := range after.VolumeClaims {
		is := &after.VolumeClaims[i]
		was := volumeClaimStatus(before, is.Name)
		// After a change of the spec, claims may match their template because it requests less.
		if hasGrown(was, is) && before.ObservedGeneration == after.ObservedGeneration {
			events = append(events, event{eventType: corev1.EventTypeNormal, reason: v1.ReasonClaimGrown,
				text: fmt.Sprintf("%d of %d claims match template %s", is.UpToDate, is.Claims, is.Name)})
		}
		if is.Infeasible > 0 && was.Infeasible == 0 && set.Spec.VolumeClaimUpdate.IsInPlace() {
			events = append(events,
				event{eventType: corev1.EventTypeWarning, reason: v1.ReasonClaimGrowthRefused, text: growthRefusedMessage(is, after)})
		}
	}
	return events
}

// isRolledBack reports whether all members that an update had reached have left it.
func isRolledBack(rollout *v1.RolloutStatus) bool {
	return rollout != nil && (rollout.Aborted || rollout.Rollback) && rollout.Step > 0 && len(rollout.Superseded) == 0 &&
		len(rollout.Released) == 0
}

// stepDone is the step of an update that was completed between two statuses, zero if none was. A
// step that a user skipped by a promotion was not completed.
func stepDone(before, after *v1.RolloutStatus) int32 {
	if before == nil || after == nil || before.Revision != after.Revision || before.Step == 0 || after.Step != before.Step+1 ||
		after.PromotedAll {
		return 0
	}
	return before.Step
}

func stepsOf(set *v1.StatefulSet) int {
	if rolling := set.Spec.UpdateStrategy.RollingUpdate; rolling != nil {
		return len(rolling.Steps)
	}
	return 0
}

// volumeClaimStatus is the status of the claims of a template, zero if there is none.
func volumeClaimStatus(status *v1.StatefulSetStatus, template string) *v1.VolumeClaimStatus {
	at := slices.IndexFunc(status.VolumeClaims, func(c v1.VolumeClaimStatus) bool { return c.Name == template })
	if at < 0 {
		return &v1.VolumeClaimStatus{}
	}
	return &status.VolumeClaims[at]
}

// hasGrown reports whether the last claims of a template that had to grow have grown.
func hasGrown(was, is *v1.VolumeClaimStatus) bool {
	return was.Growing > 0 && is.Growing == 0 && is.UpToDate+is.Differing == is.Claims
}

// growthRefusedMessage says that claims of a template cannot grow, and how to give up the growth if
// the status says that.
func growthRefusedMessage(claims *v1.VolumeClaimStatus, status *v1.StatefulSetStatus) string {
	if stalled := status.Condition(v1.StatefulSetStalled); stalled.Reason == v1.ReasonClaimGrowthRefused {
		return stalled.Message
	}
	return fmt.Sprintf("%d of %d claims cannot be changed to match template %s", claims.Infeasible, claims.Claims, claims.Name)
}
