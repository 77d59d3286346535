// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package statefulset

import (
	"context"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"
	genericrequest "k8s.io/apiserver/pkg/endpoints/request"
	genericregistry "k8s.io/apiserver/pkg/registry/generic/registry"
	"k8s.io/apiserver/pkg/registry/rest"

	v1 "statefulset.dev/api/apps/v1"
)

// requestREST serves a subresource for requests about a set. It shares the store with REST, which
// destroys it. The request becomes part of the status, and the controller fulfills it.
type requestREST[T interface {
	runtime.Object
	metav1.Object
}] struct {
	store *genericregistry.Store
	// kind is the kind of the requests, and about describes their subject, for errors.
	kind, about string
	validate    func(T) field.ErrorList
	invalid     func(set string, errs field.ErrorList) error
	// look reads the set, and whatever else the request depends on. It rejects a request that
	// cannot be fulfilled.
	look func(ctx context.Context, set string, request T) (rest.UpdatedObjectInfo, error)
	// answer is the recorded request, with the metadata of the set.
	answer func(about metav1.ObjectMeta, request T) runtime.Object
}

// Destroy does nothing: REST destroys the shared store.
func (*requestREST[T]) Destroy() {}

// Create records the request, and returns it with the name, UID and version of the set.
func (r *requestREST[T]) Create(ctx context.Context, name string, obj runtime.Object, admit rest.ValidateObjectFunc,
	options *metav1.CreateOptions) (runtime.Object, error) {
	request, ok := obj.(T)
	if !ok {
		return nil, apierrors.NewBadRequest(fmt.Sprintf("expected a %s, got %T", r.kind, obj))
	}
	if named := request.GetName(); named != "" && named != name {
		return nil, apierrors.NewBadRequest(fmt.Sprintf("metadata.name is %q, must be %q or empty: %s that set", named, name, r.about))
	}
	if errs := r.validate(request); len(errs) > 0 {
		return nil, r.invalid(name, errs)
	}
	if admit != nil {
		if err := admit(ctx, request.DeepCopyObject()); err != nil {
			return nil, err
		}
	}
	asked, err := r.look(ctx, name, request)
	if err != nil {
		return nil, err
	}
	about, err := recordRequest(ctx, r.store, name, asked, options)
	if err != nil {
		return nil, err
	}
	return r.answer(about, request), nil
}

// requestStore is the store of the sets of status, for requests to a subresource.
func requestStore(status *StatusREST, scheme *runtime.Scheme) *genericregistry.Store {
	store := *status.store
	store.UpdateStrategy = requestStrategy{statusStrategy{newStrategy(scheme, nil, nil)}}
	return &store
}

// readSet reads a set.
func readSet(ctx context.Context, store *genericregistry.Store, name string, options *metav1.GetOptions) (*v1.StatefulSet, error) {
	obj, err := store.Get(ctx, name, options)
	if err != nil {
		return nil, err
	}
	set, ok := obj.(*v1.StatefulSet)
	if !ok {
		return nil, apierrors.NewInternalError(fmt.Errorf("expected a StatefulSet, got %T", obj))
	}
	return set, nil
}

// recordRequest writes the status of a set with a request, and returns the metadata of the set for
// the response.
func recordRequest(ctx context.Context, store *genericregistry.Store, name string, change rest.UpdatedObjectInfo,
	options *metav1.CreateOptions) (metav1.ObjectMeta, error) {
	stored, _, err := store.Update(asWriteOfStatus(ctx), name, change, rest.ValidateAllObjectFunc, rest.ValidateAllObjectUpdateFunc, false,
		&metav1.UpdateOptions{DryRun: options.DryRun})
	if err != nil {
		return metav1.ObjectMeta{}, explainTooLarge(err)
	}
	set, ok := stored.(*v1.StatefulSet)
	if !ok {
		return metav1.ObjectMeta{}, apierrors.NewInternalError(fmt.Errorf("expected a StatefulSet, got %T", stored))
	}
	return metav1.ObjectMeta{Name: set.Name, Namespace: set.Namespace, UID: set.UID, ResourceVersion: set.ResourceVersion,
		CreationTimestamp: set.CreationTimestamp}, nil
}

// asWriteOfStatus makes the rules for a write of the status apply to a request.
func asWriteOfStatus(ctx context.Context) context.Context {
	return genericrequest.WithRequestInfo(ctx, &genericrequest.RequestInfo{
		IsResourceRequest: true, APIGroup: v1.GroupName, APIVersion: v1.SchemeGroupVersion.Version, Resource: "statefulsets",
		Subresource: "status"})
}

// requestStrategy is the strategy for recording a request to a subresource in the status. Nothing
// else of the set changes.
type requestStrategy struct {
	statusStrategy
}

func (requestStrategy) PrepareForUpdate(context.Context, runtime.Object, runtime.Object) {}

func (requestStrategy) ValidateUpdate(context.Context, runtime.Object, runtime.Object) field.ErrorList {
	return nil
}
