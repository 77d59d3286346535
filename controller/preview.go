// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"
	"fmt"
	"runtime"

	"golang.org/x/sync/semaphore"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/utils/clock"

	v1 "statefulset.dev/api/apps/v1"
	"statefulset.dev/controller/plan"
	"statefulset.dev/controller/plan/forecast"
	"statefulset.dev/identity"
	"statefulset.dev/identity/render"
)

// Preview computes plans without carrying them out. It reads from the cluster what the caches of a
// controller would hold of one namespace. So every replica can answer, leader or not, and the
// answer is up to date.
type Preview struct {
	host  kubernetes.Interface
	kinds kinds
	clock clock.PassiveClock
	// turns limit computation: plans never use more than half of the processors, or the only one,
	// because the controller needs some processor time to keep its lease.
	turns *semaphore.Weighted
	// namespaces are the namespaces in which the controller creates objects.
	namespaces identity.ObjectNamespaces
}

// NewPreview returns a preview that reads from the cluster, one page after the other. Nothing else
// limits it: the caller decides how many plans are computed at the same time. The controller
// creates objects in the given namespaces.
func NewPreview(host *rest.Config, objects identity.ObjectNamespaces) (*Preview, error) {
	host, there := rest.CopyConfig(host), NewHostTime(clock.RealClock{})
	host.Wrap(there.Observe)
	client, err := NewHostClient(host)
	if err != nil {
		return nil, err
	}
	preview := newPreview(client)
	preview.clock, preview.namespaces = there, objects
	return preview, nil
}

func newPreview(host kubernetes.Interface) *Preview {
	return &Preview{host, watchedKinds(host, nil), clock.RealClock{}, semaphore.NewWeighted(int64(max(1, runtime.GOMAXPROCS(0)/2))), nil}
}

// Current is the round that the controller is currently in with a set. neighbours are all sets of
// its namespace.
func (p *Preview) Current(ctx context.Context, set *v1.StatefulSet, neighbours []v1.StatefulSet) (*v1.StatefulSetPlan, error) {
	world, err := p.observe(ctx, set, neighbours)
	if err != nil {
		return nil, err
	}
	if err := p.turns.Acquire(ctx, 1); err != nil {
		return nil, unfinished(err)
	}
	defer p.turns.Release(1)
	if err := assumeObjects(ctx, &world, neighbours, p.namespaces); err != nil {
		return nil, unfinished(err)
	}
	shown := forecast.Now(world)
	if err := ctx.Err(); err != nil {
		return nil, unfinished(err)
	}
	return shown, nil
}

// Proposed is what would happen with a set that is not stored, or is stored differently. It stops
// when ctx ends, at the latest before the next round.
func (p *Preview) Proposed(ctx context.Context, set *v1.StatefulSet, neighbours []v1.StatefulSet) (*v1.StatefulSetPlan, error) {
	world, err := p.observe(ctx, set, neighbours)
	if err != nil {
		return nil, err
	}
	mine := round{of: p.turns}
	defer mine.end()
	if err := mine.next(ctx); err != nil {
		return nil, unfinished(err)
	}
	if err := assumeObjects(ctx, &world, neighbours, p.namespaces); err != nil {
		return nil, unfinished(err)
	}
	shown, err := forecast.Play(world, func() error { return mine.next(ctx) })
	if err != nil {
		return nil, unfinished(err)
	}
	return shown, nil
}

// Turn waits for a turn to compute. Plans and the validation of sets with expressions share the
// turns.
func (p *Preview) Turn(ctx context.Context) (end func(), err error) {
	if err := p.turns.Acquire(ctx, 1); err != nil {
		return nil, fmt.Errorf("waiting for a turn to compute: %w", err)
	}
	return func() { p.turns.Release(1) }, nil
}

// round is the turn of one plan. The plan lets others compute between its rounds.
type round struct {
	of    *semaphore.Weighted
	taken bool
}

// next returns when it is the plan's turn again, or an error when ctx ends.
func (r *round) next(ctx context.Context) error {
	r.end()
	if err := ctx.Err(); err != nil {
		return err
	}
	err := r.of.Acquire(ctx, 1)
	r.taken = err == nil
	return err
}

func (r *round) end() {
	if r.taken {
		r.of.Release(1)
		r.taken = false
	}
}

func unfinished(err error) error { return fmt.Errorf("the plan is not finished: %w", err) }

// observe gathers what the planner may see of a set.
func (p *Preview) observe(ctx context.Context, set *v1.StatefulSet, neighbours []v1.StatefulSet) (plan.World, error) {
	read := newView(p.kinds)
	for i := range neighbours {
		if err := read.put(setsResource, &neighbours[i]); err != nil {
			return plan.World{}, err
		}
	}
	if err := (&reader{kinds: p.kinds, set: set, into: read}).read(ctx); err != nil {
		return plan.World{}, err
	}
	world := read.world(set, p.clock.Now())
	world.Evaluation = render.Within(ctx)
	if err := (&capabilities{host: p.host}).addTo(ctx, &world); err != nil {
		return plan.World{}, unreadable("its own resources", err)
	}
	return world, nil
}

// Members reports each desired member of a set that has a pod in the cluster, in ascending order:
// its ordinal, the UID and the revision of the pod, and whether the pod serves.
func (p *Preview) Members(ctx context.Context, set *v1.StatefulSet,
	report func(ordinal int, pod types.UID, revision string, serves bool)) error {
	known := newView(p.kinds)
	if err := known.put(setsResource, set); err != nil {
		return err
	}
	kind := p.kinds.of(podsResource)
	world := plan.World{Set: set, Now: p.clock.Now()}
	err := kind.pages(ctx, set.Namespace, func(object metav1.Object) error {
		if len(kind.setsOf(known, object)) == 0 {
			return nil
		}
		if len(world.Pods) == mostKept {
			return apierrors.NewRequestEntityTooLargeError(fmt.Sprintf("%s has more than %d pods, which is the limit", set.Name, mostKept))
		}
		if pod, ok := kind.trim(known, object).(*corev1.Pod); ok {
			world.Pods = append(world.Pods, pod)
		}
		return nil
	})
	switch {
	case apierrors.IsRequestEntityTooLargeError(err):
		return err
	case err != nil:
		answer := apierrors.NewServiceUnavailable(
			fmt.Sprintf("the state of the members is not known, because the host cluster did not list pods: %v", err))
		answer.ErrStatus.Details = &metav1.StatusDetails{RetryAfterSeconds: retryAfter}
		return answer
	}
	plan.VisitMembers(world, report)
	return nil
}

// mostKept is how many objects of a set are read. A set has at most some thousand members.
const mostKept = 50_000

// retryAfter is how many seconds a client should wait before it requests a plan again.
const retryAfter = 5

// reader reads from a namespace of the cluster what concerns one set.
type reader struct {
	kinds kinds
	set   *v1.StatefulSet
	into  view
	kept  int
}

// read lists with the same selectors with which a controller watches, and keeps the objects that
// would wake the controller for the set.
func (r *reader) read(ctx context.Context) error {
	only := newView(r.kinds)
	if err := only.put(setsResource, r.set); err != nil {
		return err
	}
	for i := range r.kinds {
		kind := &r.kinds[i]
		if kind.list == nil {
			continue
		}
		err := kind.pages(ctx, r.set.Namespace, func(object metav1.Object) error {
			if len(kind.setsOf(only, object)) == 0 {
				return nil
			}
			return r.keep(kind, only, object)
		})
		if err != nil {
			return unreadable(kind.resource, err)
		}
	}
	return nil
}

// keep puts an object into the view, trimmed as in the caches of a controller that knows the set.
func (r *reader) keep(kind *kind, only view, object metav1.Object) error {
	if r.kept++; r.kept > mostKept {
		return apierrors.NewRequestEntityTooLargeError(
			fmt.Sprintf("cannot compute the plan of %s: it has more than %d pods, claims and revisions, which is the limit", r.set.Name, mostKept))
	}
	object.SetOwnerReferences(r.unnamed(object.GetOwnerReferences()))
	return r.into.put(kind.resource, kind.trim(only, object))
}

// unnamed removes the names of owners that do not belong to the set, because the user who requests
// a plan may not be allowed to see them. Sets with the name, and pods of members, keep their names,
// because they are recognized by them.
func (r *reader) unnamed(owners []metav1.OwnerReference) []metav1.OwnerReference {
	var all []metav1.OwnerReference
	for _, owner := range owners {
		member, _, named := identity.ParsePodName(owner.Name)
		ours := owner.UID == r.set.UID || owner.Kind == v1.Kind && owner.Name == r.set.Name ||
			owner.Kind == "Pod" && named && member == r.set.Name
		if !ours {
			owner.APIVersion, owner.Kind, owner.Name = "an", "unnamed", "object"
		}
		all = append(all, owner)
	}
	return all
}

// unreadable tells the client that the cluster did not answer, and when to retry.
func unreadable(kind resource, err error) error {
	if apierrors.IsRequestEntityTooLargeError(err) {
		return err
	}
	answer := apierrors.NewServiceUnavailable(fmt.Sprintf("cannot compute the plan, because the host cluster did not list %s: %v", kind, err))
	answer.ErrStatus.Details = &metav1.StatusDetails{RetryAfterSeconds: retryAfter}
	return answer
}
