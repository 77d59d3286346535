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
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/apiserver/pkg/registry/rest"

	v1 "statefulset.dev/api/apps/v1"
	"statefulset.dev/identity"
	"statefulset.dev/identity/decision"
)

// RolloutREST serves /rollout: decisions about the update that is under way. It writes them into the status.
type RolloutREST struct {
	requestREST[*v1.StatefulSetRollout]

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
	r := &RolloutREST{members: members, asking: semaphore.NewWeighted(DecisionsAtOnce)}
	r.requestREST = requestREST[*v1.StatefulSetRollout]{
		store: requestStore(status, scheme), kind: "StatefulSetRollout", about: "the decision is about the update of",
		validate: validateDecision, invalid: invalidDecision, look: r.look,
		answer: func(about metav1.ObjectMeta, request *v1.StatefulSetRollout) runtime.Object {
			return &v1.StatefulSetRollout{ObjectMeta: about, Revision: request.Revision, Action: request.Action, Step: request.Step}
		},
	}
	return r
}

// New is an empty decision, to be decoded into.
func (*RolloutREST) New() runtime.Object { return &v1.StatefulSetRollout{} }

// look reads the set, and the pods of its members if the decision depends on them.
func (r *RolloutREST) look(ctx context.Context, name string, about *v1.StatefulSetRollout) (rest.UpdatedObjectInfo, error) {
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

// decided is: stored set -> the set whose status has the decision. It looks at the set in the
// version that is about to be written.
type decided struct {
	decision *v1.StatefulSetRollout
	// uid is that of the set whose pods were looked at, empty if none were, and strays are the
	// members that could not go back.
	uid    types.UID
	strays []v1.OrdinalRange
}

// Preconditions are that the set is still the one whose pods were looked at. What else the decision
// holds for is compared with the stored set.
func (d *decided) Preconditions() *metav1.Preconditions {
	if d.uid == "" {
		return nil
	}
	return &metav1.Preconditions{UID: &d.uid}
}

// UpdatedObject is the set that has the decision, unless it is about something that is over.
func (d *decided) UpdatedObject(ctx context.Context, stored runtime.Object) (runtime.Object, error) {
	set, ok := stored.(*v1.StatefulSet)
	if !ok {
		return nil, apierrors.NewInternalError(fmt.Errorf("expected a StatefulSet, got %T", stored))
	}
	return d.apply(ctx, set)
}

// apply is a set whose status has the decision, or says why that does not hold for the update that
// is under way.
func (d *decided) apply(ctx context.Context, stored *v1.StatefulSet) (*v1.StatefulSet, error) {
	set := stored.DeepCopy()
	if err := decision.Note(set, d.decision, d.strays); err != nil {
		return nil, conflict(set, "%v", err)
	}
	noteDecision(ctx, set, d.decision)
	return set, nil
}

// decidedOn is a decision about the update of a set, with what has to be known of the pods of its
// members.
func decidedOn(ctx context.Context, members Members, set *v1.StatefulSet, about *v1.StatefulSetRollout) (*decided, error) {
	d := &decided{decision: about}
	if !decision.NeedsStrays(set, about) {
		return d, nil
	}
	d.uid = set.UID
	err := members.Members(ctx, set, func(ordinal int, _ types.UID, revision string, _ bool) {
		if decision.IsStray(set, revision) {
			d.strays = identity.AppendOrdinal(d.strays, ordinal)
		}
	})
	return d, err
}

// validateDecision wants the revision of an update, something to do about it, and for a
// promotion the step.
func validateDecision(about *v1.StatefulSetRollout) (errs field.ErrorList) {
	if about.Revision == "" {
		errs = append(errs, field.Required(field.NewPath("revision"), "status.updateRevision of the set"))
	}
	path := field.NewPath("step")
	switch about.Action {
	case v1.PromoteRollout:
		if about.Step < 1 {
			errs = append(errs, field.Invalid(path, about.Step, "must be 1 or more: the last step that is promoted"))
		}
	case v1.PromoteAllRollout, v1.AbortRollout:
		if about.Step != 0 {
			errs = append(errs, field.Invalid(path, about.Step, "only allowed with action Promote"))
		}
	default:
		errs = append(errs, field.NotSupported(field.NewPath("action"), about.Action,
			[]v1.RolloutAction{v1.AbortRollout, v1.PromoteRollout, v1.PromoteAllRollout}))
	}
	return errs
}

func invalidDecision(name string, errs field.ErrorList) error {
	return apierrors.NewInvalid(v1.SchemeGroupVersion.WithKind("StatefulSetRollout").GroupKind(), name, errs)
}
