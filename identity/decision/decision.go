// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

// Package decision says what becomes of the record of an update about which somebody decides, and
// which decisions do not hold. Everything here is a pure function.
package decision

import (
	"errors"
	"fmt"
	"strings"

	v1 "statefulset.dev/api/apps/v1"
	"statefulset.dev/identity"
)

// Note puts a decision into the status of a set, or says why it does not hold for the update that
// is under way. strays are the members that IsStray, which counts where NeedsStrays.
func Note(set *v1.StatefulSet, decision *v1.StatefulSetRollout, strays []v1.OrdinalRange) error {
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

// NeedsStrays reports whether a decision holds only if all members can go back, and the status does
// not say whether they can: the controller keeps no record of the update.
func NeedsStrays(set *v1.StatefulSet, decision *v1.StatefulSetRollout) bool {
	return decision.Action == v1.AbortRollout && late(set, decision) == nil && recordOf(set).Step == 0
}

// IsStray reports whether a member whose pod has a revision cannot go back: it runs neither that of
// the update nor the current one, so that nobody has its template.
func IsStray(set *v1.StatefulSet, revision string) bool {
	return revision != set.Status.CurrentRevision && revision != set.Status.UpdateRevision
}

// GoOn is the command by which people take an abortion back that leads nowhere.
func GoOn(set *v1.StatefulSet) string {
	if rollout := recordOf(set); max(int(rollout.Step), 1) > len(stepsOf(set)) || rollout.PromotedAll {
		return "kubectl sts rollout promote --all"
	}
	return "kubectl sts rollout promote"
}

// recordOf is what the status says of the update that is under way, to be changed.
func recordOf(set *v1.StatefulSet) *v1.RolloutStatus {
	stored := set.Status.Rollout
	switch {
	case stored == nil:
		return &v1.RolloutStatus{Revision: set.Status.UpdateRevision}
	case stored.Revision != set.Status.UpdateRevision: // the next update wants to know whom this one had reached
		return &v1.RolloutStatus{Revision: set.Status.UpdateRevision, Released: stored.Released}
	default:
		return stored.DeepCopy()
	}
}

// late says why a decision does not hold for the update of a set, nil if it does.
func late(set *v1.StatefulSet, decision *v1.StatefulSetRollout) error {
	status := &set.Status
	if uid := decision.UID; uid != "" && uid != set.UID {
		return fmt.Errorf("the decision is about the set with UID %s, the set of this name has UID %s", uid, set.UID)
	}
	if set.DeletionTimestamp != nil {
		return errors.New("the set is being deleted")
	}
	if strategy := set.Spec.UpdateStrategy.Type; strategy != v1.RollingUpdateStatefulSetStrategyType {
		return fmt.Errorf("the update strategy is %s: only updates of the strategy %s are promoted and aborted", strategy,
			v1.RollingUpdateStatefulSetStrategyType)
	}
	if status.ObservedGeneration != set.Generation {
		return fmt.Errorf("the controller has not yet seen generation %d of the set, it has seen %d: look again at what the update is",
			set.Generation, status.ObservedGeneration)
	}
	if status.UpdateRevision != decision.Revision {
		return fmt.Errorf("the decision is about the update to %s, and the present one is to %s", decision.Revision, status.UpdateRevision)
	}
	if status.UpdateRevision == status.CurrentRevision {
		return fmt.Errorf("no update is under way: revision %s is the current one", status.CurrentRevision)
	}
	rollout := recordOf(set)
	if (rollout.Aborted || rollout.Rollback) && len(rollout.Superseded) == 0 {
		return fmt.Errorf("the update to %s is rolled back already; give the set another template, or kubectl sts rollout restart",
			decision.Revision)
	}
	return nil
}

// promote approves the steps of an update up to one of them. Of one that was aborted and could not
// be rolled back, that takes the abortion back.
func promote(set *v1.StatefulSet, rollout *v1.RolloutStatus, step int32) error {
	if steps := stepsOf(set); int(step) > len(steps) {
		return fmt.Errorf("there is no step %d: the update has %d", step, len(steps))
	}
	if step < rollout.Step {
		return fmt.Errorf("step %d is done: the update is at step %d", step, rollout.Step)
	}
	rollout.PromotedStep, rollout.Aborted = max(rollout.PromotedStep, step), false
	rollout.StepHashes = identity.StepHashes(stepsOf(set))
	return nil
}

// promoteAll ends the steps of an update, and takes an abortion back as promote does.
func promoteAll(set *v1.StatefulSet, rollout *v1.RolloutStatus) error {
	hasSteps := len(stepsOf(set)) > 0
	if !hasSteps && !rollout.Aborted {
		return errors.New("the update has no steps that could be promoted")
	}
	rollout.PromotedAll, rollout.Aborted = hasSteps, false
	return nil
}

// abort has the members that an update has reached go back, unless one has nothing to go back to.
func abort(set *v1.StatefulSet, rollout *v1.RolloutStatus, strays []v1.OrdinalRange) error {
	switch text := neverCompleted(set, strays); {
	case text == "":
		rollout.Aborted = true
		return nil
	case rollout.Aborted:
		return fmt.Errorf(
			"the update is aborted already, and %s, so it cannot be rolled back; give the set another template, or go on with it: %s", text,
			GoOn(set))
	default:
		return fmt.Errorf(
			"%s, so the update cannot be rolled back; give the set another template, or stop the update where it is: kubectl sts rollout pause",
			text)
	}
}

func stepsOf(set *v1.StatefulSet) []v1.RolloutStep {
	if rolling := set.Spec.UpdateStrategy.RollingUpdate; rolling != nil {
		return rolling.Steps
	}
	return nil
}

// fewNames is how many ranges of members are named.
const fewNames = 3

// neverCompleted says which members have no revision that they could go back to, empty if all
// have.
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
