// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package statefulset

import (
	"context"
	"fmt"

	"golang.org/x/sync/semaphore"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	genericregistry "k8s.io/apiserver/pkg/registry/generic/registry"
	"k8s.io/apiserver/pkg/registry/rest"

	v1 "statefulset.dev/api/apps/v1"
	"statefulset.dev/identity/decision"
)

// RolloutREST serves /rollout: decisions about the update that is under way. It shares the
// store, and so the life, of REST, and writes decisions into the status; the controller does
// the rest.
type RolloutREST struct {
	store   *genericregistry.Store
	members Members
	// asking are the decisions for which pods are read from the host.
	asking *semaphore.Weighted
}

// DecisionsAtOnce is how many decisions are answered at the same time that depend on the pods of
// members. Each reads the pods of a namespace of the host.
const DecisionsAtOnce = 4

var _ rest.NamedCreater = &RolloutREST{}

// NewRolloutREST serves decisions about updates of the sets whose status is served. Of scheme
// it uses the generated validation of the API types.
func NewRolloutREST(status *StatusREST, scheme *runtime.Scheme, members Members) *RolloutREST {
	return &RolloutREST{requestStore(status, scheme), members, semaphore.NewWeighted(DecisionsAtOnce)}
}

// New is an empty decision, to be decoded into.
func (*RolloutREST) New() runtime.Object { return &v1.StatefulSetRollout{} }

// Destroy does nothing: REST destroys the shared store.
func (*RolloutREST) Destroy() {}

// Create notes what has been decided, and returns it with the name, UID and version of the set.
func (r *RolloutREST) Create(ctx context.Context, name string, obj runtime.Object, admit rest.ValidateObjectFunc,
	options *metav1.CreateOptions) (runtime.Object, error) {
	about, ok := obj.(*v1.StatefulSetRollout)
	if !ok {
		return nil, apierrors.NewBadRequest(fmt.Sprintf("expected a StatefulSetRollout, got %T", obj))
	}
	if about.Name != "" && about.Name != name {
		return nil, apierrors.NewBadRequest(
			fmt.Sprintf("metadata.name is %q, must be %q or empty: the decision is about the update of that set", about.Name, name))
	}
	if errs := validateDecision(about); len(errs) > 0 {
		return nil, invalidDecision(name, errs)
	}
	if admit != nil {
		if err := admit(ctx, about.DeepCopy()); err != nil {
			return nil, err
		}
	}
	decided, err := r.look(ctx, name, about)
	if err != nil {
		return nil, err
	}
	noted, err := noteRequest(ctx, r.store, name, decided, options)
	if err != nil {
		return nil, err
	}
	return &v1.StatefulSetRollout{ObjectMeta: noted, Revision: about.Revision, Action: about.Action, Step: about.Step}, nil
}

// look reads the set, and the pods of its members if the decision depends on them.
func (r *RolloutREST) look(ctx context.Context, name string, about *v1.StatefulSetRollout) (*decided, error) {
	set, err := readSet(ctx, r.store, name, &metav1.GetOptions{})
	if err != nil {
		return nil, err
	}
	if decision.NeedsStrays(set, about) {
		if !r.asking.TryAcquire(1) {
			return nil, apierrors.NewTooManyRequests(fmt.Sprintf(
				"%d other decisions are being answered that depend on the pods of members, which is the limit, try again later", DecisionsAtOnce), 1)
		}
		defer r.asking.Release(1)
	}
	return decidedOn(ctx, r.members, set, about)
}
