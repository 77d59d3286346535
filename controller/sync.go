// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"

	v1 "statefulset.dev/api/apps/v1"
	"statefulset.dev/controller/hostread"
	"statefulset.dev/controller/objects"
	"statefulset.dev/controller/plan"
	"statefulset.dev/identity"
	"statefulset.dev/identity/render"
)

// staleViewInterval is how often a set is synced that waits for the caches to show its own writes,
// although no event woke it: a bookmark wakes no set.
const staleViewInterval = 30 * time.Second

// staleSyncsBeforeReport is how many syncs in a row must find that an object has changed since it
// was seen, before that is reported. With their back-off they take five seconds.
const staleSyncsBeforeReport = 10

// evaluationTime is how long a sync evaluates expressions of a set. It is far more than any set
// should need, because each evaluation is bounded.
const evaluationTime = 10 * time.Second

var errEvaluationTime = fmt.Errorf("expressions took longer than %s", evaluationTime)

// syncAndRequeue syncs a set and requeues it when necessary. A set that failed, even by a panic,
// waits longer each time.
func (t *term) syncAndRequeue(ctx context.Context, turn *turn, key cache.ObjectName) {
	var again time.Duration
	err := hostread.CatchPanic(ctx, func() (err error) {
		again, err = t.sync(ctx, turn, key)
		return err
	})
	switch {
	case ctx.Err() != nil:
		return
	case errors.Is(err, errTermOver):
		// A process that was stopped for longer than its lease continues to lead if no other
		// replica has acquired the lease. The writes that it must not begin now wait for the
		// renewal.
		t.queue.AddAfter(key, t.config.RetryPeriod)
		return
	case isStaleRead(err):
		klog.FromContext(ctx).V(2).Info("Requeuing a set that was not as expected", "set", key, "cause", err)
		t.queue.AddRateLimited(key)
		return
	case err != nil:
		klog.FromContext(ctx).Error(err, "Sync failed", "set", key, "failures", t.queue.NumRequeues(key)+1)
		t.queue.AddRateLimited(key)
		return
	}
	t.queue.Forget(key)
	if again > 0 {
		t.queue.AddAfter(key, again)
	}
}

// sync brings one set and its status up to date with what the caches show. It returns after how
// long the set must be synced again even if nothing changes, zero for never.
func (t *term) sync(ctx context.Context, turn *turn, key cache.ObjectName) (again time.Duration, err error) {
	set, ok := get[*v1.StatefulSet](t.view, setsResource, key.Namespace, key.Name)
	if !ok {
		return t.forget(key), nil
	}
	if v1.IsDamaged(set) {
		klog.FromContext(ctx).Info("Skipping a damaged set", "set", key, "UID", set.UID)
		return 0, nil
	}
	state := t.states.getOrCreate(key)
	if unseen := state.unseen(t.view); len(unseen) > 0 {
		t.gauges.skipped(t.kinds, unseen)
		klog.FromContext(ctx).V(4).Info("Waiting for the caches to show own writes", "set", key, "unseen", unseen)
		return staleViewInterval, nil
	}
	ctx, span := t.startSpan(ctx, set)
	defer func() { endSpan(span, err) }()

	evaluation, err := t.beginEvaluation(ctx, state, set)
	if err != nil {
		return 0, err
	}
	defer evaluation.end()
	world, err := t.observe(ctx, evaluation.set)
	if err != nil {
		return 0, err
	}
	decided, err := t.decide(ctx, state, evaluation, world)
	if err != nil {
		return 0, err
	}
	if set, err = evaluation.complete(ctx); err != nil {
		return 0, err
	}
	state.keepReads(decided.Cache)
	t.gauges.show(set, decided)
	done := t.execute(ctx, turn, set, decided)
	state.addEvents(decided.Warnings, done.events)

	status := decided.Status
	if failures := slices.Concat(done.failures, t.staleReadFailures(key, done)); len(failures) > 0 {
		status = plan.WithFailures(set.Status, decided, failures, world.Now)
	}
	statusAfter, err := t.updateStatus(ctx, set, status)
	if err != nil {
		return 0, err
	}
	if statusAfter == 0 {
		t.emitEvents(set, statusEvents(set, &status)...)
	}
	if done.stopped != nil {
		return 0, fmt.Errorf("carrying out plan: %w", done.stopped)
	}
	if decided.Stopped {
		return 0, fmt.Errorf("evaluating expressions: %w", errEvaluationTime)
	}
	if done.unfinished || len(decided.Reads) > 0 {
		t.queue.Add(key)
	}
	return soonest(decided.RequeueAfter, done.retryAfter, statusAfter, state.nextUnlabeledPodsSync(), state.objects.NextSync()), nil
}

// observe gathers what the planner may see of a set.
func (t *term) observe(ctx context.Context, set *v1.StatefulSet) (plan.World, error) {
	if identity.IsEvaluationStopped(set) {
		return t.view.world(set, t.config.hostNow()), nil
	}
	state := t.states.getOrCreate(cache.MetaObjectToName(set))
	if err := t.searchUnlabeledPods(ctx, set, state); err != nil {
		return plan.World{}, err
	}
	unlabeled, err := t.readUnlabeledPods(ctx, state)
	if err != nil {
		return plan.World{}, err
	}
	world := t.view.world(set, t.config.hostNow())
	world.Cache = state.lastReads()
	world.Pods = append(world.Pods, unlabeled...)
	if err := t.readStubs(ctx, state, &world); err != nil {
		return plan.World{}, err
	}
	unseen, err := t.readRevisions(ctx, set, missingRevisions(set, world.Pods, world.Revisions))
	if err != nil {
		return plan.World{}, err
	}
	world.Revisions = append(world.Revisions, unseen...)
	t.objectWatcher.Observe(ctx, &state.objects, &world)
	if err := t.capabilities.addTo(ctx, &world); err != nil {
		return plan.World{}, err
	}
	return world, nil
}

// decide computes the plan of a world. The caches have only the metadata of objects. So objects are
// read of which a pod waits for an output, and the plan is then computed again. No other objects
// are read.
func (t *term) decide(ctx context.Context, state *setState, evaluation *evaluation, world plan.World) (plan.Plan, error) {
	within, cancel := context.WithTimeoutCause(ctx, evaluationTime, errEvaluationTime)
	defer cancel()
	world.Evaluation = render.Within(within)
	decided, unread := plan.Compute(world), false
	for left := objects.OutputsPerSync; left > 0 && len(decided.Reads) > 0; {
		due := decided.Reads[:min(left, len(decided.Reads))]
		left -= len(due)
		if err := evaluation.markOutputs(ctx, &world, due); err != nil {
			return plan.Plan{}, err
		}
		unread = !t.objectWatcher.ReadOutputs(ctx, &state.objects, &world, due, t.trialOf(state)) || unread
		if state.outputsEnded() {
			return evaluation.stopOutputs(ctx)
		}
		decided = plan.Compute(world)
	}
	if len(world.Kinds) > 0 {
		state.objects.AwaitOutputs(world.Objects, unread)
		state.objects.SearchLost(decided.Lost, t.config.Clock.Now())
	}
	return decided, nil
}

// staleReadFailures is the action at which the plans of a set stopped again and again because an
// object was not as it was seen, or because the pod of a removed member exists. Once is not worth a
// report, because the next sync sees the change. If the cluster keeps answering like this, or its
// watches no longer show its objects, it has a problem.
func (t *term) staleReadFailures(key cache.ObjectName, done report) []plan.Failure {
	var answer apierrors.APIStatus
	reports := errors.As(done.stopped, &answer) || errors.Is(done.stopped, errPodExists)
	if t.queue.NumRequeues(key) < staleSyncsBeforeReport || !isStaleRead(done.stopped) || !reports {
		return nil
	}
	return []plan.Failure{{Action: done.stoppedAt, Err: done.stopped}}
}

// soonest is the shortest of the delays that are not zero, and zero if all are zero.
func soonest(delays ...time.Duration) time.Duration {
	delays = slices.DeleteFunc(delays, func(delay time.Duration) bool { return delay == 0 })
	if len(delays) == 0 {
		return 0
	}
	return slices.Min(delays)
}

// forget drops what is remembered of a deleted set, except for writes that the caches do not show
// yet: the controller must not decide about a later set with the same name before they do. It
// returns when to check again, zero if nothing is left.
func (t *term) forget(key cache.ObjectName) time.Duration {
	t.gauges.forget(key)
	t.queue.Forget(key)
	if state := t.states.find(key); state != nil && len(state.unseen(t.view)) > 0 {
		state.keepWritesOnly()
		return staleViewInterval
	}
	t.states.forget(key)
	return 0
}
