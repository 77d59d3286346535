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
)

// errTermOver is what a write returns that was not begun because the term is over.
var errTermOver = errors.New("the term is over")

// staleRead is an error that means that the world is not as it was seen. It is no
// refusal: the set has to be looked at again.
type staleRead struct{ error }

func (o *staleRead) Unwrap() error { return o.error }

func saysLookAgain(err error) bool {
	var old *staleRead
	return errors.As(err, &old)
}

// execution carries out one plan.
type execution struct {
	*term

	set  *v1.StatefulSet
	key  cache.ObjectName
	turn *turn
	// confirmed is true once the set was read past the cache, and adopting is why it
	// may not adopt anything any more.
	confirmed bool
	adopting  error
	// began is when the execution did, earlier what had failed before.
	began   time.Time
	earlier failures

	// failed and paces are what the next execution has to know.
	failed map[string]attempt
	paces  map[string]*pace

	// budgets is held while members are taken from service as budgets allow.
	budgets budgets

	// mu is held to add to the events, which actions under way do.
	mu   sync.Mutex
	done report
}

// report is what came of a plan.
type report struct {
	failures []plan.Failure
	events   []event
	// retryAfter is how long it takes until the first failure may be tried again.
	retryAfter time.Duration
	// stopped is why the plan was given up although nothing was refused, and stoppedAt the
	// action at which it was.
	stopped   error
	stoppedAt plan.Action
	// unfinished is true if the turn was over before everything was begun.
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

func (e *execution) carryOut(ctx context.Context, action plan.Action) error { //nolint:gocyclo // a case for each kind of action
	switch action := action.(type) {
	case plan.CreateMember:
		return e.createMember(ctx, action)
	case plan.CreateClaims:
		return e.createClaims(ctx, action.Claims)
	case plan.SetClaimOwners:
		return e.setClaimOwners(ctx, action)
	case plan.UpdateClaim:
		return e.updateClaim(ctx, action)
	case plan.MarkClaim:
		return e.markClaim(ctx, action)
	case plan.DeleteClaim:
		return e.deleteClaim(ctx, action)
	case plan.CreateObject:
		return e.createObject(ctx, action)
	case plan.ApplyObject:
		return e.applyObject(ctx, action)
	case plan.MarkObject:
		return e.markObject(ctx, action)
	case plan.SetObjectOwners:
		return e.setObjectOwners(ctx, action)
	case plan.CreateAnchor:
		return e.createRevision(ctx, action.Anchor)
	case plan.OwnAnchor:
		return e.ownAnchor(ctx, action)
	case plan.DeleteObject:
		return e.deleteObject(ctx, action)
	case plan.RepairPod:
		return e.repairPod(ctx, action)
	case plan.PatchPod:
		return e.patchPod(ctx, action)
	case plan.SetPodConditions:
		return e.setPodConditions(ctx, action)
	case plan.DeletePod:
		return e.deletePod(ctx, action)
	case plan.UpdateInPlace:
		return e.updateInPlace(ctx, action)
	case plan.ResizePod:
		return e.resizePod(ctx, action)
	case plan.EndInPlace:
		return e.endInPlace(ctx, action)
	case plan.AdoptPod:
		return e.adoptPod(ctx, action)
	case plan.ReleasePod:
		return e.releasePod(ctx, action)
	case plan.CreateRevision:
		return e.createRevision(ctx, action.Revision)
	case plan.RaiseRevision:
		return e.raiseRevision(ctx, action)
	case plan.AdoptRevision:
		return e.adoptRevision(ctx, action)
	case plan.DeleteRevision:
		return e.deleteRevision(ctx, action)
	default:
		panic(fmt.Sprintf("no rule to carry out %T", action))
	}
}

// isFailure reports whether an action was tried in vain, and not merely given up.
func isFailure(err error) bool {
	return !errors.Is(err, errTermOver) && !errors.Is(err, errTurnOver) && !saysLookAgain(err)
}

// joined returns the failures among the errors, and if there are none, the first
// error.
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

// unchanged returns an error if the set has changed since it was planned for. A
// plan of thousands of actions takes a while.
func (e *execution) unchanged() error {
	now, ok := get[*v1.StatefulSet](e.view, setsResource, e.set.Namespace, e.set.Name)
	if !ok || held(now) || now.UID != e.set.UID || now.Generation != e.set.Generation || (now.DeletionTimestamp == nil) != (e.set.DeletionTimestamp == nil) {
		return &staleRead{errors.New("the set has changed")}
	}
	return nil
}

func held(set *v1.StatefulSet) bool {
	_, held := v1.Held(set)
	return held
}

// confirmBefore confirms the set before the first chains in which something is adopted.
func (e *execution) confirmBefore(ctx context.Context, chains []plan.Chain) {
	if !e.confirmed && slices.ContainsFunc(chains, func(chain plan.Chain) bool { return slices.ContainsFunc(chain, adopts) }) {
		e.confirmed, e.adopting = true, e.confirm(ctx, e.set)
	}
}

// adopts reports whether the set is to be confirmed before an action.
func adopts(action plan.Action) bool {
	switch action.(type) {
	case plan.AdoptPod, plan.AdoptRevision, plan.OwnAnchor:
		return true
	case plan.CreateMember, plan.CreateClaims, plan.SetClaimOwners, plan.UpdateClaim, plan.MarkClaim, plan.DeleteClaim:
	case plan.CreateObject, plan.ApplyObject, plan.MarkObject, plan.DeleteObject, plan.SetObjectOwners, plan.CreateAnchor:
	case plan.RepairPod, plan.PatchPod, plan.SetPodConditions, plan.DeletePod, plan.UpdateInPlace, plan.ResizePod, plan.EndInPlace, plan.ReleasePod:
	case plan.CreateRevision, plan.RaiseRevision, plan.DeleteRevision:
	}
	return false
}

// confirm makes sure that the set is still there, past all caches, before anything
// is adopted: what a set adopts that is being deleted is deleted with it.
func (t *term) confirm(ctx context.Context, set *v1.StatefulSet) error {
	live, err := t.liveSet(ctx, set)
	switch {
	case apierrors.IsNotFound(err):
		return &staleRead{err}
	case err != nil:
		return fmt.Errorf("reading set before adopting: %w", err)
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
