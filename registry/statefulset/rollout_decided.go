// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package statefulset

import (
	"context"
	"fmt"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"

	appsv1 "statefulset.dev/api/apps/v1"
	"statefulset.dev/identity"
)

// decided is: stored set -> the set whose status has the decision. It looks at the set in the
// version that is about to be written.
type decided struct{ decision *appsv1.StatefulSetRollout }

// Preconditions are none: what the decision holds for is compared with the stored set.
func (d decided) Preconditions() *metav1.Preconditions { return nil }

// UpdatedObject is the set that has the decision, unless it is about something that is over.
func (d decided) UpdatedObject(_ context.Context, stored runtime.Object) (runtime.Object, error) {
	set, ok := stored.DeepCopyObject().(*appsv1.StatefulSet)
	if !ok {
		return nil, apierrors.NewInternalError(fmt.Errorf("expected a StatefulSet, got %T", stored))
	}
	if err := DecideRollout(set, d.decision); err != nil {
		return nil, err
	}
	return set, nil
}

// DecideRollout puts a decision into the status of a set, or says why it does not hold for the
// update that is under way.
func DecideRollout(set *appsv1.StatefulSet, decision *appsv1.StatefulSetRollout) error {
	if err := lateDecision(set, decision); err != nil {
		return err
	}
	rollout := set.Status.Rollout
	if rollout == nil || rollout.Revision != decision.Revision {
		next := &appsv1.RolloutStatus{Revision: decision.Revision}
		if rollout != nil { // of the update before, the next one wants to know whom it had reached
			next.Released = rollout.Released
		}
		rollout = next
	}
	switch decision.Action {
	case appsv1.PromoteRollout:
		if steps := stepsOf(set); int(decision.Step) > len(steps) {
			return conflict(set, "there is no step %d: the update has %d", decision.Step, len(steps))
		}
		if decision.Step < rollout.Step {
			return conflict(set, "step %d is done: the update is at step %d", decision.Step, rollout.Step)
		}
		rollout.PromotedStep = max(rollout.PromotedStep, decision.Step)
	case appsv1.PromoteAllRollout:
		if len(stepsOf(set)) == 0 {
			return conflict(set, "the update has no steps that could be promoted")
		}
		rollout.PromotedAll = true
	case appsv1.AbortRollout:
		if text := neverCompleted(set, rollout); text != "" {
			return conflict(set, "%s, so the update cannot be rolled back; give the set another template", text)
		}
		rollout.Aborted = true
	}
	set.Status.Rollout = rollout
	return nil
}

// lateDecision says why a decision does not hold for the update of a set, nil if it does.
func lateDecision(set *appsv1.StatefulSet, decision *appsv1.StatefulSetRollout) error {
	status := &set.Status
	if uid := decision.UID; uid != "" && uid != set.UID {
		return conflict(set, "the decision is about the set with UID %s, the set of this name has UID %s", uid, set.UID)
	}
	if set.DeletionTimestamp != nil {
		return conflict(set, "the set is being deleted")
	}
	if strategy := set.Spec.UpdateStrategy.Type; strategy != appsv1.RollingUpdateStatefulSetStrategyType {
		return conflict(set, "the update strategy is %s: only updates of the strategy %s are promoted and aborted", strategy, appsv1.RollingUpdateStatefulSetStrategyType)
	}
	if status.ObservedGeneration != set.Generation {
		return conflict(set, "the controller has not yet seen generation %d of the set, it has seen %d: look again at what the update is", set.Generation, status.ObservedGeneration)
	}
	if status.UpdateRevision != decision.Revision {
		return conflict(set, "the decision is about the update to %s, and the present one is to %s", decision.Revision, status.UpdateRevision)
	}
	if status.UpdateRevision == status.CurrentRevision {
		return conflict(set, "no update is under way: revision %s is the current one", status.CurrentRevision)
	}
	if rollout := status.Rollout; rollout != nil && rollout.Revision == decision.Revision && (rollout.Aborted || rollout.Rollback) {
		return conflict(set, "the update to %s is rolled back already; give the set another template, or kubectl sts rollout restart", decision.Revision)
	}
	return nil
}

func stepsOf(set *appsv1.StatefulSet) []appsv1.RolloutStep {
	if rolling := set.Spec.UpdateStrategy.RollingUpdate; rolling != nil {
		return rolling.Steps
	}
	return nil
}

// neverCompleted says which members have no revision that they could go back to, empty if all
// have.
func neverCompleted(set *appsv1.StatefulSet, rollout *appsv1.RolloutStatus) string {
	var names []string
	for _, r := range rollout.Superseded {
		name := identity.PodName(set.Name, int(r.First))
		if r.End() > r.First {
			name += " to " + identity.PodName(set.Name, int(r.End()))
		}
		if names = append(names, name); len(names) == mostUnavailable {
			break
		}
	}
	switch {
	case len(names) == 0:
		return ""
	case len(rollout.Superseded) == 1 && rollout.Superseded[0].End() == rollout.Superseded[0].First:
		return names[0] + " ran a revision that was never completed"
	default:
		return strings.Join(names, ", ") + " ran a revision that was never completed"
	}
}

// validateDecision wants the revision of an update, something to do about it, and for a
// promotion the step.
func validateDecision(decision *appsv1.StatefulSetRollout) (errs field.ErrorList) {
	if decision.Revision == "" {
		errs = append(errs, field.Required(field.NewPath("revision"), "status.updateRevision of the set"))
	}
	path := field.NewPath("step")
	switch decision.Action {
	case appsv1.PromoteRollout:
		if decision.Step < 1 {
			errs = append(errs, field.Invalid(path, decision.Step, "must be 1 or more: the last step that is promoted"))
		}
	case appsv1.PromoteAllRollout, appsv1.AbortRollout:
		if decision.Step != 0 {
			errs = append(errs, field.Invalid(path, decision.Step, "only allowed with action Promote"))
		}
	default:
		errs = append(errs, field.NotSupported(field.NewPath("action"), decision.Action,
			[]appsv1.RolloutAction{appsv1.AbortRollout, appsv1.PromoteRollout, appsv1.PromoteAllRollout}))
	}
	return errs
}

func invalidDecision(name string, errs field.ErrorList) error {
	return apierrors.NewInvalid(appsv1.SchemeGroupVersion.WithKind("StatefulSetRollout").GroupKind(), name, errs)
}
