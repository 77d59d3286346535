// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/cache"

	v1 "statefulset.dev/api/apps/v1"
	"statefulset.dev/controller/hostread"
	"statefulset.dev/controller/plan"
	"statefulset.dev/controller/plan/action"
	"statefulset.dev/identity"
)

// errTermOver is the result of a write that did not begin because the term is over.
var errTermOver = errors.New("the term is over")

// staleRead is an error that means that the world has changed since it was read. It is not a
// refusal: the set must be synced again.
type staleRead struct{ error }

func (o *staleRead) Unwrap() error { return o.error }

func isStaleRead(err error) bool {
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
		term: t, set: set, key: cache.MetaObjectToName(set), turn: turn, began: t.config.Clock.Now(),
		earlier: t.states.getOrCreate(cache.MetaObjectToName(set)).failed(set.UID), failed: map[string]attempt{}, paces: map[string]*pace{},
	}
	if e.walk(ctx, p.First) {
		e.walk(ctx, p.Chains...)
	}
	if e.done.stopped == nil {
		e.walk(ctx, p.Finally...)
	}
	t.states.getOrCreate(e.key).keepFailures(set.UID, e.toRemember())
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
	return !errors.Is(err, errTermOver) && !errors.Is(err, errTurnOver) && !isStaleRead(err)
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
	if !ok || isSuspended(now) || now.UID != e.set.UID || now.Generation != e.set.Generation ||
		(now.DeletionTimestamp == nil) != (e.set.DeletionTimestamp == nil) {
		return &staleRead{errors.New("the set has changed")}
	}
	return nil
}

func isSuspended(set *v1.StatefulSet) bool {
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
	return hostread.ReadWithRetry(ctx, t.config.Clock, func(ctx context.Context) (*v1.StatefulSet, error) {
		return t.config.Sets.AppsV1().StatefulSets(set.Namespace).Get(ctx, set.Name, metav1.GetOptions{})
	})
}

// createRevision emits no event, because a revision concerns only the set.
func (e *execution) createRevision(ctx context.Context, revision *appsv1.ControllerRevision) error {
	return e.add(ctx, revisionsResource, subject{kind: "revision", name: revision.Name}, revision)
}

func (e *execution) raiseRevision(ctx context.Context, act action.RaiseRevision) error {
	what := subject{kind: "revision", name: act.Revision.Name}
	return e.change(ctx, revisionsResource, what, act.Revision, change{revision: &act.To})
}

func (e *execution) adoptRevision(ctx context.Context, act action.AdoptRevision) error {
	return e.adopt(ctx, revisionsResource, subject{part: "owner of ", kind: "revision", name: act.Revision.Name}, act.Revision)
}

// ownAnchor is as careful as an adoption: a set that is being deleted without its dependents must
// not become the owner of the anchor, which would then be deleted with it.
func (e *execution) ownAnchor(ctx context.Context, act action.OwnAnchor) error {
	return e.adoptAs(ctx, revisionsResource, subject{part: "owners of ", kind: "revision", name: act.Anchor.Name}, act.Anchor,
		identity.AnchorOwner(e.set))
}

func (e *execution) deleteRevision(ctx context.Context, act action.DeleteRevision) error {
	return e.remove(ctx, revisionsResource, subject{kind: "revision", name: act.Revision.Name}, act.Revision)
}

// verb is one way to write to the host cluster.
type verb string

const (
	create   verb = "create"
	update   verb = "update"
	deletion verb = "delete"
)

// These are the forms of a verb in errors, in messages, and in the reasons of events.
func (v verb) doing() string  { return strings.TrimSuffix(string(v), "e") + "ing" }
func (v verb) done() string   { return v.reason() + "d" }
func (v verb) reason() string { return strings.ToUpper(string(v[:1])) + string(v[1:]) }

// asBudgetsAllow is the verb of a write to which disruption budgets apply.
func (v verb) asBudgetsAllow() string {
	if v == deletion {
		return "evict"
	}
	return string(v)
}

// recordSuccess records the event of a write that succeeded.
func (e *execution) recordSuccess(verb verb, what subject) {
	e.recordEvent(corev1.EventTypeNormal, "Successful"+verb.reason(), verb.done()+" ", what, "")
}

// recordEvent records an event: the text, then the subject and its set, then the rest.
func (e *execution) recordEvent(eventType, reason, text string, what subject, rest string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.done.events = append(e.done.events, event{eventType: eventType, reason: reason, text: text + what.part,
		objectKind: what.kind, object: what.name, rest: what.why + " of set " + e.set.Name + rest})
}

// subject is what a write is about, as errors and events call it: an object or a part of it, and
// the reason for the write.
type subject struct{ part, kind, name, why string }

func (s subject) String() string { return fmt.Sprintf("%s%s %q%s", s.part, s.kind, s.name, s.why) }
