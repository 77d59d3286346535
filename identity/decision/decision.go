// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

// Package decision applies a user's decision about an update (promote or abort) to the record of
// the update, and rejects decisions that do not apply. All functions are pure.
package decision

import (
	"errors"
	"fmt"
	"strings"

	v1 "statefulset.dev/api/apps/v1"
	"statefulset.dev/identity"
)

// Record records a decision in the status of a set, or returns the reason why it does not apply to
// the current update. strays are the members for which IsStray is true. They are required only if
// NeedsStrays is true.
func Record(set *v1.StatefulSet, decision *v1.StatefulSetRollout, strays []v1.OrdinalRange) error {
	if err := late(set, decision); err != nil {
		return err
	}
	rollout := recordOf(set)
	var err error
	switch decision.Action {
	case v1.PromoteRollout:
		err = promote(set, rollout, decision.Step)
	case v1.PromoteAllRollout:
		err = promoteAll(set, rollout)
	case v1.AbortRollout:
		if len(rollout.Superseded) > 0 {
			strays = rollout.Superseded
		}
		err = abort(set, rollout, strays)
	}
	if err == nil {
		set.Status.Rollout = rollout
	}
	return err
}

// NeedsStrays reports whether a decision is valid only if all members can return to the current
// revision, and the status does not record whether they can, because the controller keeps no record
// of the update.
func NeedsStrays(set *v1.StatefulSet, decision *v1.StatefulSetRollout) bool {
	return decision.Action == v1.AbortRollout && late(set, decision) == nil && recordOf(set).Step == 0
}

// IsStray reports whether a member whose pod has a revision cannot return: the revision is neither
// the update revision nor the current one, so its template is not recorded anywhere.
func IsStray(set *v1.StatefulSet, revision string) bool {
	return revision != set.Status.CurrentRevision && revision != set.Status.UpdateRevision
}

// GoOn is the command that withdraws an abort without effect, so that the update continues.
func GoOn(set *v1.StatefulSet) string {
	if rollout := recordOf(set); max(int(rollout.Step), 1) > len(stepsOf(set)) || rollout.PromotedAll {
		return "kubectl sts rollout promote --all"
	}
	return "kubectl sts rollout promote"
}

// recordOf returns a copy of the record of the current update in the status.
func recordOf(set *v1.StatefulSet) *v1.RolloutStatus {
	stored := set.Status.Rollout
	switch {
	case stored == nil:
		return &v1.RolloutStatus{Revision: set.Status.UpdateRevision}
	case stored.Revision != set.Status.UpdateRevision: // the next update needs the members that this one had reached
		return &v1.RolloutStatus{Revision: set.Status.UpdateRevision, Released: stored.Released}
	default:
		return stored.DeepCopy()
	}
}

// late returns the reason why a decision does not apply to the update of a set, nil if it applies.
func late(set *v1.StatefulSet, decision *v1.StatefulSetRollout) error {
	status := &set.Status
	if uid := decision.UID; uid != "" && uid != set.UID {
		return fmt.Errorf("the request is for the set with UID %s, but the set of this name has UID %s", uid, set.UID)
	}
	if set.DeletionTimestamp != nil {
		return errors.New("the set is being deleted")
	}
	if strategy := set.Spec.UpdateStrategy.Type; strategy != v1.RollingUpdateStatefulSetStrategyType {
		return fmt.Errorf("the update strategy is %s: only updates with the strategy %s can be promoted or aborted", strategy,
			v1.RollingUpdateStatefulSetStrategyType)
	}
	if status.ObservedGeneration != set.Generation {
		return fmt.Errorf("the controller has not observed generation %d of the set yet, only %d: check status.updateRevision, and try again",
			set.Generation, status.ObservedGeneration)
	}
	if status.UpdateRevision != decision.Revision {
		return fmt.Errorf("the request is for the update to %s, but the current update is to %s", decision.Revision, status.UpdateRevision)
	}
	if status.UpdateRevision == status.CurrentRevision {
		return fmt.Errorf("no update is in progress: %s is the current revision", status.CurrentRevision)
	}
	rollout := recordOf(set)
	if (rollout.Aborted || rollout.Rollback) && len(rollout.Superseded) == 0 {
		return fmt.Errorf("the update to %s is already rolled back; change spec.template, or retry the update with kubectl sts rollout restart",
			decision.Revision)
	}
	return nil
}

// promote approves the steps of an update up to and including one of them. It withdraws the abort
// of an update that cannot be rolled back.
func promote(set *v1.StatefulSet, rollout *v1.RolloutStatus, step int32) error {
	if steps := stepsOf(set); int(step) > len(steps) {
		return fmt.Errorf("there is no step %d: the number of steps is %d", step, len(steps))
	}
	if step < rollout.Step {
		return fmt.Errorf("step %d is done: the update is at step %d", step, rollout.Step)
	}
	rollout.PromotedStep, rollout.Aborted = max(rollout.PromotedStep, step), false
	rollout.StepHashes = identity.StepHashes(stepsOf(set))
	return nil
}

// promoteAll ends the steps of an update, and withdraws an abort as promote does.
func promoteAll(set *v1.StatefulSet, rollout *v1.RolloutStatus) error {
	hasSteps := len(stepsOf(set)) > 0
	if !hasSteps && !rollout.Aborted {
		return errors.New("the update has no steps to promote")
	}
	rollout.PromotedAll, rollout.Aborted = hasSteps, false
	return nil
}

// abort makes the members that an update has reached return, unless one of them has no revision to
// return to.
func abort(set *v1.StatefulSet, rollout *v1.RolloutStatus, strays []v1.OrdinalRange) error {
	switch text := neverCompleted(set, strays); {
	case text == "":
		rollout.Aborted = true
		return nil
	case rollout.Aborted:
		return fmt.Errorf(
			"the update is already aborted, and %s, so it cannot be rolled back; change spec.template, or continue the update: %s", text,
			GoOn(set))
	default:
		return fmt.Errorf(
			"%s, so the update cannot be rolled back; change spec.template, or pause the update: kubectl sts rollout pause",
			text)
	}
}

func stepsOf(set *v1.StatefulSet) []v1.RolloutStep {
	if rolling := set.Spec.UpdateStrategy.RollingUpdate; rolling != nil {
		return rolling.Steps
	}
	return nil
}

// fewNames is the maximum number of ranges of members that a message names.
const fewNames = 3

// neverCompleted names the members that have no revision to return to. It is empty if there are
// none.
func neverCompleted(set *v1.StatefulSet, strays []v1.OrdinalRange) string {
	if len(strays) == 0 {
		return ""
	}
	var names []string
	for _, r := range strays {
		if len(names) == fewNames {
			names = append(names, "others")
			break
		}
		name := identity.PodName(set.Name, int(r.First))
		if r.End() > r.First {
			name += " to " + identity.PodName(set.Name, int(r.End()))
		}
		names = append(names, name)
	}
	return strings.Join(names, ", ") + " ran a revision that was never completed"
}
