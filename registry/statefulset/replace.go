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
	genericregistry "k8s.io/apiserver/pkg/registry/generic/registry"
	"k8s.io/apiserver/pkg/registry/rest"

	v1 "statefulset.dev/api/apps/v1"
)

// Members knows the pods of members.
type Members interface {
	// Members tells of each wanted member of a set that has a pod, as the host has it now, in
	// ascending order: its ordinal, the UID and the revision of the pod, and whether it serves
	// somebody.
	Members(ctx context.Context, set *v1.StatefulSet, tell func(ordinal int, pod types.UID, revision string, serves bool)) error
}

// ReplaceREST serves /replace: requests to replace members. It shares the store, and so the
// life, of REST, and writes into the status which pods are to go; the controller does the rest.
type ReplaceREST struct {
	store   *genericregistry.Store
	members Members
	// asking are the requests that read pods from the host.
	asking *semaphore.Weighted
}

// ReplacementsAtOnce is how many requests to replace members are answered at the same time.
// Each reads the pods of a namespace of the host.
const ReplacementsAtOnce = 4

var _ rest.NamedCreater = &ReplaceREST{}

// NewReplaceREST serves requests to replace members of the sets whose status is served. Of
// scheme it uses the generated validation of the API types.
func NewReplaceREST(status *StatusREST, scheme *runtime.Scheme, members Members) *ReplaceREST {
	return &ReplaceREST{requestStore(status, scheme), members, semaphore.NewWeighted(ReplacementsAtOnce)}
}

// New is an empty request, to be decoded into.
func (*ReplaceREST) New() runtime.Object { return &v1.StatefulSetReplacement{} }

// Destroy does nothing: REST destroys the shared store.
func (*ReplaceREST) Destroy() {}

// Create notes which pods are to be replaced, and returns the request with the name, UID and
// version of the set.
func (r *ReplaceREST) Create(ctx context.Context, name string, obj runtime.Object, admit rest.ValidateObjectFunc,
	options *metav1.CreateOptions) (runtime.Object, error) {
	if !r.asking.TryAcquire(1) {
		return nil, apierrors.NewTooManyRequests(
			fmt.Sprintf("%d other requests to replace members are being answered, which is the limit, try again later", ReplacementsAtOnce), 1)
	}
	defer r.asking.Release(1)
	request, ok := obj.(*v1.StatefulSetReplacement)
	if !ok {
		return nil, apierrors.NewBadRequest(fmt.Sprintf("expected a StatefulSetReplacement, got %T", obj))
	}
	if request.Name != "" && request.Name != name {
		return nil, apierrors.NewBadRequest(
			fmt.Sprintf("metadata.name is %q, must be %q or empty: the request is for members of that set", request.Name, name))
	}
	if errs := validateReplacement(request); len(errs) > 0 {
		return nil, invalidReplacement(name, errs)
	}
	if admit != nil {
		if err := admit(ctx, request.DeepCopy()); err != nil {
			return nil, err
		}
	}
	asked, err := r.look(ctx, name, request)
	if err != nil {
		return nil, err
	}
	about, err := noteRequest(ctx, r.store, name, asked, options)
	if err != nil {
		return nil, err
	}
	return &v1.StatefulSetReplacement{ObjectMeta: about, Ordinals: request.Ordinals, Force: request.Force, LostNode: request.LostNode}, nil
}

// look reads the set, to refuse what needs no look at the host, and the pods of its members.
func (r *ReplaceREST) look(ctx context.Context, name string, request *v1.StatefulSetReplacement) (*askedSet, error) {
	set, err := readSet(ctx, r.store, name, &metav1.GetOptions{})
	if err != nil {
		return nil, err
	}
	return lookAt(ctx, r.members, set, request)
}

// lookAt is what a request is about: the pods of the members of a set.
func lookAt(ctx context.Context, members Members, set *v1.StatefulSet, request *v1.StatefulSetReplacement) (*askedSet, error) {
	asked := &askedSet{request: request, uid: set.UID, pods: map[int]types.UID{}, serve: map[int]bool{}}
	if err := asked.refuse(set); err != nil {
		return nil, err
	}
	err := members.Members(ctx, set, func(ordinal int, pod types.UID, _ string, serves bool) {
		asked.pods[ordinal], asked.serve[ordinal] = pod, serves
	})
	return asked, err
}
