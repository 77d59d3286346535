// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/cache"

	v1 "statefulset.dev/api/apps/v1"
	"statefulset.dev/controller/hostread"
	"statefulset.dev/controller/plan"
	"statefulset.dev/controller/plan/action"
)

// errTermOver is the result of a write that did not begin because the term is over.
var errTermOver = errors.New("the term is over")

// staleRead is an error that means that the world has changed since it was read. It is not a
// refusal: the set must be synced again.
type staleRead struct{ error }

func (o *staleRead) Unwrap() error { return o.error }

func saysLookAgain(err error) bool {
	var old *staleRead
	return errors.As(err, &old)
}

// execution carries out one plan.
type execution struct {
	term *term

	set  *v1.StatefulSet
	key  cache.ObjectName
	turn *turn
	// confirmed is true once the set was read past the cache. adopting is why the set must not
	// adopt anything any more.
	confirmed bool
	adopting  error
	// began is when the execution began, earlier are the failures before it.
	began   time.Time
	earlier failures

	// failed and paces are what the next execution must know.
	failed map[string]attempt
	paces  map[string]*pace

	// budgets is locked while members are taken out of service as budgets allow.
	budgets budgets

	// mu is locked to add to the events, which running actions do.
	mu   sync.Mutex
	done report
}

// report is the result of a plan.
type report struct {
	failures []plan.Failure
	events   []event
	// retryAfter is how long it takes until the first failure may be retried.
	retryAfter time.Duration
	// stopped is why the execution of the plan stopped although nothing was refused, and stoppedAt
	// the action at which it stopped.
	stopped   error
	stoppedAt action.Action
	// unfinished is true if the turn was over before every action had begun.
	unfinished bool
}

// execute carries out a plan until the turn is over.
func (t *term) execute(ctx context.Context, turn *turn, set *v1.StatefulSet, p plan.Plan) report {
	e := &execution{
		term: t, set: set, key: cache.MetaObjectToName(set), turn: turn, began: t.Clock.Now(),
		earlier: t.memory.of(cache.MetaObjectToName(set)).failed(set.UID), failed: map[string]attempt{}, paces: map[string]*pace{},
	}
	if e.walk(ctx, p.First) {
		e.walk(ctx, p.Chains...)
	}
	if e.done.stopped == nil {
		e.walk(ctx, p.Aside...)
	}
	t.memory.of(e.key).keepFailures(set.UID, e.toRemember())
	return e.done
}

func (e *execution) carryOut(ctx context.Context, act action.Action) error { //nolint:gocyclo // a case for each kind of action
	switch act := act.(type) {
	case action.CreateMember:
		return e.createMember(ctx, act)
	case action.CreateClaims:
		return e.createClaims(ctx, act.Claims)
	case action.SetClaimOwners:
		return e.setClaimOwners(ctx, act)
	case action.UpdateClaim:
		return e.updateClaim(ctx, act)
	case action.MarkClaim:
		return e.markClaim(ctx, act)
	case action.DeleteClaim:
		return e.deleteClaim(ctx, act)
	case action.CreateObject:
		return e.createObject(ctx, act)
	case action.ApplyObject:
		return e.applyObject(ctx, act)
	case action.MarkObject:
		return e.markObject(ctx, act)
	case action.SetObjectOwners:
		return e.setObjectOwners(ctx, act)
	case action.CreateAnchor:
		return e.createRevision(ctx, act.Anchor)
	case action.OwnAnchor:
		return e.ownAnchor(ctx, act)
	case action.DeleteObject:
		return e.deleteObject(ctx, act)
	case action.RepairPod:
		return e.repairPod(ctx, act)
	case action.PatchPod:
		return e.patchPod(ctx, act)
	case action.SetPodConditions:
		return e.setPodConditions(ctx, act)
	case action.DeletePod:
		return e.deletePod(ctx, act)
	case action.UpdateInPlace:
		return e.updateInPlace(ctx, act)
	case action.ResizePod:
		return e.resizePod(ctx, act)
	case action.EndInPlace:
		return e.endInPlace(ctx, act)
	case action.AdoptPod:
		return e.adoptPod(ctx, act)
	case action.ReleasePod:
		return e.releasePod(ctx, act)
	case action.CreateRevision:
		return e.createRevision(ctx, act.Revision)
	case action.RaiseRevision:
		return e.raiseRevision(ctx, act)
	case action.AdoptRevision:
		return e.adoptRevision(ctx, act)
	case action.DeleteRevision:
		return e.deleteRevision(ctx, act)
	default:
		panic(fmt.Sprintf("no rule to carry out %T", act))
	}
}

// isFailure reports whether an action was tried and failed, and was not merely given up.
func isFailure(err error) bool {
	return !errors.Is(err, errTermOver) && !errors.Is(err, errTurnOver) && !saysLookAgain(err)
}

// joined returns the failures among the errors, or the first error if none is a failure.
func joined(errs []error) error {
	var failures []error
	var first error
	for _, err := range errs {
		switch {
		case err == nil:
		case isFailure(err):
			failures = append(failures, err)
		case first == nil:
			first = err
		}
	}
	return cmp.Or(errors.Join(failures...), first)
}

// unchanged returns an error if the set has changed since it was planned for: a plan of thousands
// of actions takes a while.
func (e *execution) unchanged() error {
	now, ok := get[*v1.StatefulSet](e.term.view, setsResource, e.set.Namespace, e.set.Name)
	if !ok || held(now) || now.UID != e.set.UID || now.Generation != e.set.Generation ||
		(now.DeletionTimestamp == nil) != (e.set.DeletionTimestamp == nil) {
		return &staleRead{errors.New("the set has changed")}
	}
	return nil
}

func held(set *v1.StatefulSet) bool {
	_, held := v1.Held(set)
	return held
}

// confirmBefore confirms the set before the first chains that adopt something.
func (e *execution) confirmBefore(ctx context.Context, chains []action.Chain) {
	if !e.confirmed && slices.ContainsFunc(chains, func(chain action.Chain) bool { return slices.ContainsFunc(chain, adopts) }) {
		e.confirmed, e.adopting = true, e.term.confirm(ctx, e.set)
	}
}

// adopts reports whether the set must be confirmed before an action.
func adopts(act action.Action) bool {
	switch act.(type) {
	case action.AdoptPod, action.AdoptRevision, action.OwnAnchor:
		return true
	case action.CreateMember, action.CreateClaims, action.SetClaimOwners, action.UpdateClaim, action.MarkClaim, action.DeleteClaim:
	case action.CreateObject, action.ApplyObject, action.MarkObject, action.DeleteObject, action.SetObjectOwners, action.CreateAnchor:
	case action.RepairPod, action.PatchPod, action.SetPodConditions, action.DeletePod, action.UpdateInPlace, action.ResizePod,
		action.EndInPlace, action.ReleasePod:
	case action.CreateRevision, action.RaiseRevision, action.DeleteRevision:
	}
	return false
}

// confirm verifies, past all caches, that the set still exists, before it adopts anything. What a
// set adopts while it is being deleted is deleted with it.
func (t *term) confirm(ctx context.Context, set *v1.StatefulSet) error {
	live, err := t.liveSet(ctx, set)
	switch {
	case apierrors.IsNotFound(err):
		return &staleRead{err}
	case err != nil:
		return fmt.Errorf("reading the set before adopting: %w", err)
	case live.UID != set.UID || live.DeletionTimestamp != nil:
		return &staleRead{errors.New("the set is being deleted")}
	}
	return nil
}

// liveSet reads a set past the caches.
func (t *term) liveSet(ctx context.Context, set *v1.StatefulSet) (*v1.StatefulSet, error) {
	return hostread.Again(ctx, t.Clock, func(ctx context.Context) (*v1.StatefulSet, error) {
		return t.Sets.AppsV1().StatefulSets(set.Namespace).Get(ctx, set.Name, metav1.GetOptions{})
	})
}
