// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package statefulset

import (
	"context"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	genericregistry "k8s.io/apiserver/pkg/registry/generic/registry"
	"k8s.io/apiserver/pkg/registry/rest"

	appsv1 "statefulset.dev/api/apps/v1"
)

// RolloutREST serves /rollout: decisions about the update that is under way. It shares the
// store, and so the life, of REST, and writes decisions into the status; the controller does
// the rest.
type RolloutREST struct {
	store *genericregistry.Store
}

var _ rest.NamedCreater = &RolloutREST{}

// NewRolloutREST serves decisions about updates of the sets whose status is served. Of scheme
// it uses the generated validation of the API types.
func NewRolloutREST(status *StatusREST, scheme *runtime.Scheme) *RolloutREST {
	return &RolloutREST{requestStore(status, scheme)}
}

// New is an empty decision, to be decoded into.
func (*RolloutREST) New() runtime.Object { return &appsv1.StatefulSetRollout{} }

// Destroy does nothing: REST destroys the shared store.
func (*RolloutREST) Destroy() {}

// Create notes what has been decided, and returns it with the name, UID and version of the set.
func (r *RolloutREST) Create(ctx context.Context, name string, obj runtime.Object, admit rest.ValidateObjectFunc, options *metav1.CreateOptions) (runtime.Object, error) {
	decision, ok := obj.(*appsv1.StatefulSetRollout)
	if !ok {
		return nil, apierrors.NewBadRequest(fmt.Sprintf("expected a StatefulSetRollout, got %T", obj))
	}
	if decision.Name != "" && decision.Name != name {
		return nil, apierrors.NewBadRequest(fmt.Sprintf("metadata.name is %q, must be %q or empty: the decision is about the update of that set", decision.Name, name))
	}
	if errs := validateDecision(decision); len(errs) > 0 {
		return nil, invalidDecision(name, errs)
	}
	if admit != nil {
		if err := admit(ctx, decision.DeepCopy()); err != nil {
			return nil, err
		}
	}
	about, err := noteRequest(ctx, r.store, name, decided{decision}, options)
	if err != nil {
		return nil, err
	}
	return &appsv1.StatefulSetRollout{ObjectMeta: about, Revision: decision.Revision, Action: decision.Action, Step: decision.Step}, nil
}
