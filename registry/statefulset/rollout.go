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

// RolloutREST serves /rollout: decisions about the current update. It records them in the status.
type RolloutREST struct {
	requestREST[*v1.StatefulSetRollout]

	members Members
	// asking are the decisions that read pods from the host cluster.
	asking *semaphore.Weighted
}

// DecisionsAtOnce is the maximum number of decisions that depend on the pods of members and are
// handled at the same time. Each reads the pods of a namespace of the host cluster.
const DecisionsAtOnce = 4

var _ rest.NamedCreater = &RolloutREST{}

// NewRolloutREST serves decisions about updates of the sets of status. It uses the generated
// validation of the API types in scheme.
func NewRolloutREST(status *StatusREST, scheme *runtime.Scheme, members Members) *RolloutREST {
	r := &RolloutREST{members: members, asking: semaphore.NewWeighted(DecisionsAtOnce)}
	r.requestREST = requestREST[*v1.StatefulSetRollout]{
		store: requestStore(status, scheme), kind: "StatefulSetRollout", about: "the request is for the update of",
		validate: validateDecision, invalid: invalidDecision, look: r.look,
		answer: func(about metav1.ObjectMeta, request *v1.StatefulSetRollout) runtime.Object {
			return &v1.StatefulSetRollout{ObjectMeta: about, Revision: request.Revision, Action: request.Action, Step: request.Step}
		},
	}
	return r
}

// New is an empty decision, into which a request is decoded.
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
				"%d other requests that depend on the pods of members are in progress, which is the limit; try again later", DecisionsAtOnce), 1)
		}
		defer r.asking.Release(1)
	}
	return newDecisionUpdate(ctx, r.members, set, about)
}

// decisionUpdate changes a stored set to record the decision. It checks the version of the set that
// is about to be written.
type decisionUpdate struct {
	decision *v1.StatefulSetRollout
	// uid is the UID of the set whose pods were read, empty if none were read. strays are the
	// members that cannot be rolled back.
	uid    types.UID
	strays []v1.OrdinalRange
}

// Preconditions require that the set is still the one whose pods were read. All other conditions
// are checked against the stored set.
func (d *decisionUpdate) Preconditions() *metav1.Preconditions {
	if d.uid == "" {
		return nil
	}
	return &metav1.Preconditions{UID: &d.uid}
}

// UpdatedObject returns the set with the decision, or an error if the decision is too late.
func (d *decisionUpdate) UpdatedObject(ctx context.Context, stored runtime.Object) (runtime.Object, error) {
	set, ok := stored.(*v1.StatefulSet)
	if !ok {
		return nil, apierrors.NewInternalError(fmt.Errorf("expected a StatefulSet, got %T", stored))
	}
	return d.apply(ctx, set)
}

// apply returns the set with the decision in its status, or the reason why the decision does not
// apply to the current update.
func (d *decisionUpdate) apply(ctx context.Context, stored *v1.StatefulSet) (*v1.StatefulSet, error) {
	set := stored.DeepCopy()
	if err := decision.Record(set, d.decision, d.strays); err != nil {
		return nil, conflict(set, "%v", err)
	}
	recordDecision(ctx, set, d.decision)
	return set, nil
}

// newDecisionUpdate returns the update of a set for a decision about its rollout. It reads the pods
// of the members if the decision depends on them.
func newDecisionUpdate(ctx context.Context, members Members, set *v1.StatefulSet, about *v1.StatefulSetRollout) (*decisionUpdate, error) {
	d := &decisionUpdate{decision: about}
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

// validateDecision requires the revision of an update, an action and, for a promotion, the step.
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
