// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"
	"errors"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/klog/v2"

	v1 "statefulset.dev/api/apps/v1"
	"statefulset.dev/controller/plan"
	"statefulset.dev/identity"
	"statefulset.dev/identity/render"
)

// Expressions are bounded, but a bound may have a bug, and one set must not end every leader.
// Before the expressions of a set are evaluated for the first time, the controller therefore writes
// a mark to the set's status, and the next write of the status removes it. A process that takes
// over and finds the mark of another process knows that the other one ended in between, because of
// these expressions or for any other reason. It tries such sets in a separate process, and sets a
// set aside if that process ends, too. A set that passes this trial and still ends process after
// process is also set aside.

const (
	// mostDeaths is how many processes may end while they evaluate the same inputs, if a trial of
	// these inputs succeeded. deathInterval is the minimum time between two ends that count. If a
	// process is killed again and again for another reason, some evaluations complete in between.
	mostDeaths    = 3
	deathInterval = 10 * time.Second
	// maxMembersPerMark is for how many members the expressions of a set are evaluated under the
	// first mark.
	maxMembersPerMark = 500
	// memberEvaluationTimeout limits the time of that evaluation.
	memberEvaluationTimeout = 5 * time.Second
	// markLifetime is how long a mark counts as evidence: a restored store has old ones.
	markLifetime = time.Hour
	// evaluationPatience is how long a sync waits for its turn to evaluate.
	evaluationPatience = 10 * time.Second
)

// evaluation is the evaluation of a set's expressions by one sync.
type evaluation struct {
	term *term

	state *setState
	// set is the set, with its mark if it has one.
	set *v1.StatefulSet
	// older are the sources of earlier revisions that are evaluated as well.
	older []identity.Source
	// wasInterrupted is true if a process ended while it evaluated the same inputs. released is
	// true if a user has released the set since then.
	wasInterrupted, released bool
	// units is how many units of evaluationLimit the evaluation has acquired, which end releases.
	units int64
}

// beginEvaluation marks a set whose expressions have not been evaluated before, and evaluates them
// for its members. It sets a set aside that ends processes.
func (t *term) beginEvaluation(ctx context.Context, state *setState, set *v1.StatefulSet) (*evaluation, error) {
	e := &evaluation{term: t, state: state, set: set}
	if set.Status.Evaluation == nil && isObserved(set) || isInactive(set) {
		return e, nil
	}
	e.older = t.olderSources(set)
	of := identity.EvaluationOf(set, e.older...)
	mark := markOf(set, of)
	switch {
	case of.Any():
	case mark.IsStopped():
		return e, e.unmark(ctx) // the set no longer has the expressions that were stopped
	default:
		return e, nil
	}
	left, done := state.notEvaluated(set, of.Inputs)
	e.released = mark.IsStopped() && set.Annotations[v1.EvaluateAnnotation] == mark.Release()
	if !e.released && (done || mark.IsStopped() || mark.IsCompleted()) {
		return e, nil
	}
	e.wasInterrupted = mark != nil && mark.Holder != t.config.Identity
	if err := e.acquire(ctx); err != nil {
		return e, err
	}
	if err := e.first(ctx, of, mark, left); err != nil {
		e.end()
		return e, err
	}
	return e, nil
}

// first evaluates the expressions under a mark, for members for which they have not been evaluated
// yet. It evaluates a set in a separate process first if an earlier evaluation was interrupted, and
// sets the set aside if that process ends.
func (e *evaluation) first(ctx context.Context, of identity.Evaluation, mark *v1.StatefulSetEvaluation, left []int) error {
	next := e.term.nextMark(e.set, of, mark)
	if e.wasInterrupted {
		if stopped, err := e.tried(ctx, mark, next, left); stopped || err != nil {
			return err
		}
	}
	if mark == nil || e.released || next.Deaths != mark.Deaths {
		if err := e.mark(ctx, next); err != nil {
			return err
		}
	}
	if e.released {
		e.term.emitEvents(e.set, event{eventType: corev1.EventTypeNormal, reason: v1.ReasonEvaluationReleased,
			text: "Evaluating the expressions once more, as " + releasedBy(e.set)})
	}
	evaluateMembers(ctx, of, left)
	e.state.keepEvaluated(e.set, of.Inputs, left)
	e.state.recordInterrupted(e.wasInterrupted)
	return nil
}

// evaluateMembers evaluates the expressions of a set for members, within memberEvaluationTimeout.
func evaluateMembers(ctx context.Context, of identity.Evaluation, members []int) {
	ctx, cancel := context.WithTimeout(ctx, memberEvaluationTimeout)
	defer cancel()
	of.Run(render.Within(ctx), members)
}

// tried evaluates the set in a separate process, and reports whether the set was set aside as a
// result.
func (e *evaluation) tried(ctx context.Context, mark *v1.StatefulSetEvaluation, next v1.StatefulSetEvaluation,
	left []int) (stopped bool, err error) {
	klog.FromContext(ctx).Info("Evaluating a set in a separate process, because a process ended while evaluating it",
		"set", e.state.key, "inputs", next.Inputs, "fields", next.Fields)
	err = e.term.try(ctx, e.set, trialRequest{Older: e.older, Members: left})
	switch {
	case errors.Is(err, errTrialEnded):
		next.Deaths = mark.Deaths + 1
		if !e.released {
			next.Deaths++ // the earlier process, and the trial
		}
		return true, e.stop(ctx, next)
	case err == nil && next.Deaths >= mostDeaths:
		return true, e.stop(ctx, next)
	default:
		return false, err
	}
}

// markOf returns the mark of a set for its current inputs, nil if there is none.
func markOf(set *v1.StatefulSet, of identity.Evaluation) *v1.StatefulSetEvaluation {
	if mark := set.Status.Evaluation; mark != nil && mark.Inputs == of.Inputs {
		return mark
	}
	return nil
}

// isInactive reports whether the controller does nothing for the set, and so evaluates no
// expressions.
func isInactive(set *v1.StatefulSet) bool { return set.DeletionTimestamp != nil || isSuspended(set) }

// isObserved reports whether the controller has completed a sync of the current spec that evaluated
// its expressions.
func isObserved(set *v1.StatefulSet) bool {
	return set.Status.ObservedGeneration == set.Generation && set.Status.Condition(v1.StatefulSetReady).Reason != v1.ReasonHeld
}

// nextMark is the mark for an evaluation that follows another one with the same inputs; before is
// nil if there was none.
func (t *term) nextMark(set *v1.StatefulSet, of identity.Evaluation, before *v1.StatefulSetEvaluation) v1.StatefulSetEvaluation {
	now := metav1.NewTime(t.config.hostNow().Truncate(time.Second))
	next := v1.StatefulSetEvaluation{
		Generation: set.Generation, Inputs: of.Inputs, Fields: of.Fields, Holder: t.config.Identity, StartedAt: &now}
	if before == nil {
		return next
	}
	age := deathInterval
	if before.StartedAt != nil {
		age = now.Sub(before.StartedAt.Time)
	}
	switch {
	case before.IsStopped():
		next.Deaths = mostDeaths - 1
	case before.Holder == t.config.Identity, age < deathInterval:
		next.Deaths = before.Deaths
	case age < markLifetime:
		next.Deaths = before.Deaths + 1
	}
	return next
}

// mark writes a mark into the status of the set, and changes nothing else.
func (e *evaluation) mark(ctx context.Context, next v1.StatefulSetEvaluation) error {
	status := *e.set.Status.DeepCopy()
	status.Evaluation = &next
	return e.write(ctx, status)
}

// stop sets the set aside.
func (e *evaluation) stop(ctx context.Context, last v1.StatefulSetEvaluation) error {
	last.StoppedAt, last.Holder = last.StartedAt, ""
	if before := e.set.Status.Evaluation; before != nil {
		last.StartedAt = before.StartedAt
		if before.IsStopped() && !last.StoppedAt.After(before.StoppedAt.Time) {
			// The annotation that released the earlier stop must not release this one. Times in the
			// API are whole seconds.
			last.StoppedAt = new(metav1.NewTime(before.StoppedAt.Add(time.Second)))
		}
	}
	aside := *e.set
	aside.Status = *e.set.Status.DeepCopy()
	aside.Status.Evaluation = &last
	status := plan.Compute(e.term.view.world(&aside, e.term.config.hostNow())).Status
	requested := userActionEvents(e.set, &status)
	if err := e.write(ctx, status); err != nil {
		return err
	}
	why := status.Condition(v1.StatefulSetStalled).Message
	klog.FromContext(ctx).Info("Setting a set aside", "set", e.state.key, "why", why)
	e.term.emitEvents(e.set, append(requested, event{eventType: corev1.EventTypeWarning, reason: v1.ReasonEvaluationStopped, text: why})...)
	return nil
}

func (e *evaluation) write(ctx context.Context, status v1.StatefulSetStatus) error {
	written, err := e.term.writeStatus(ctx, e.set, status)
	if err != nil {
		return err
	}
	written.ManagedFields = nil
	e.set = written
	e.state.wroteMark(written.ResourceVersion)
	return nil
}

// markOutputs marks a set before the outputs of its objects are evaluated for the first time,
// unless it has a mark. A changed object does not cause another mark: that would cost a write for
// each change, and outputs only read fields.
func (e *evaluation) markOutputs(ctx context.Context, world *plan.World, due []plan.ObjectRead) error {
	unknown := e.state.newOutputs(world.Set, due)
	if len(unknown) == 0 {
		return nil
	}
	if e.set.Status.Evaluation == nil {
		if err := e.mark(ctx, e.term.nextMark(e.set, identity.EvaluationOf(e.set, e.term.olderSources(e.set)...), nil)); err != nil {
			return err
		}
		world.Set = e.set
	}
	e.state.keepOutputsSeen(e.set.UID, unknown)
	return nil
}

// stopOutputs sets the set aside and returns the plan for that, after a trial of the outputs of its
// objects has ended a process.
func (e *evaluation) stopOutputs(ctx context.Context) (plan.Plan, error) {
	last := e.term.nextMark(e.set, identity.EvaluationOf(e.set, e.term.olderSources(e.set)...), nil)
	last.Deaths = 2 // the earlier process, and the trial
	if err := e.stop(ctx, last); err != nil {
		return plan.Plan{}, err
	}
	return plan.Compute(e.term.view.world(e.set, e.term.config.hostNow())), nil
}

// complete ends the evaluation of a sync and returns the latest version of the set. If an earlier
// evaluation of the set was interrupted, it immediately records that this one is complete.
// Otherwise the set would be blamed for a process that ends later.
func (e *evaluation) complete(ctx context.Context) (*v1.StatefulSet, error) {
	defer e.end()
	if mark := e.set.Status.Evaluation; e.wasInterrupted && !mark.IsStopped() {
		completed := *mark
		completed.Holder, completed.Deaths = "", 0
		if err := e.mark(ctx, completed); err != nil {
			return nil, err
		}
	}
	return e.set, nil
}

// unmark removes the mark, if there is one, and changes nothing else.
func (e *evaluation) unmark(ctx context.Context) error {
	if e.set.Status.Evaluation == nil {
		return nil
	}
	status := *e.set.Status.DeepCopy()
	status.Evaluation = nil
	return e.write(ctx, status)
}

// evaluationLimit is how many units there are for evaluations. Each evaluation acquires one unit;
// one that must run alone acquires all.
const evaluationLimit = 1 << 20

func (e *evaluation) acquire(ctx context.Context) error {
	units := int64(1)
	if e.wasInterrupted {
		units = evaluationLimit
	}
	ctx, cancel := context.WithTimeout(ctx, evaluationPatience)
	defer cancel()
	if err := e.term.interruptedSets.limit.Acquire(ctx, units); err != nil {
		return fmt.Errorf("waiting for the evaluation of another set: %w", err)
	}
	e.units = units
	return nil
}

// end releases the acquired units. It may be called more than once.
func (e *evaluation) end() {
	e.term.interruptedSets.limit.Release(e.units)
	e.units = 0
}
