// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package statefulset

import (
	"context"
	"fmt"

	metainternalversion "k8s.io/apimachinery/pkg/apis/meta/internalversion"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/apiserver/pkg/registry/generic"
	genericregistry "k8s.io/apiserver/pkg/registry/generic/registry"
	"k8s.io/apiserver/pkg/registry/rest"

	v1 "statefulset.dev/api/apps/v1"
	"statefulset.dev/registry/statefulset/preflight"
)

// Storage has an endpoint for each path of a set.
type Storage struct {
	StatefulSet *REST
	Status      *StatusREST
	Scale       *ScaleREST
}

// REST serves the set itself.
type REST struct {
	*genericregistry.Store
	preflight preflight.Preflight
	// unknown returns the fields of a set that are not available. May be nil.
	unknown func(runtime.Object) field.ErrorList
	// records is the recorder of the store's strategy.
	records *recorder
	// kinds limits the kinds of objects that sets describe. May be nil.
	kinds *ObjectKinds
}

var (
	_ rest.StandardStorage            = &REST{}
	_ rest.ShortNamesProvider         = &REST{}
	_ rest.SingularNameProvider       = &REST{}
	_ rest.TableConvertor             = &REST{}
	_ rest.ResetFieldsStrategy        = &REST{}
	_ rest.StorageWithReadiness       = &REST{}
	_ rest.CollectionDeleter          = &REST{}
	_ rest.GracefulDeleter            = &REST{}
	_ rest.MayReturnFullObjectDeleter = &REST{}
)

// ShortNames are the names that kubectl accepts for "statefulsets". The short name of apps/v1 is
// not one of them, because kubectl warns about every use of a name that two groups have. Sets are
// in no category for a similar reason: while this server is down, "kubectl get all" would fail in
// every namespace.
func (*REST) ShortNames() []string { return []string{"sset"} }

// Create stores a new set that the host cluster finds valid.
func (r *REST) Create(ctx context.Context, obj runtime.Object, admit rest.ValidateObjectFunc,
	options *metav1.CreateOptions) (runtime.Object, error) {
	claim := r.claim()
	set, err := r.Store.Create(ctx, obj, claim.create(r.known(r.preflight.AfterCreate(admit))), options)
	claim.end(set, options.DryRun, err)
	return set, explainTooLarge(err)
}

// Update changes a set to one that the host cluster finds valid, or creates it: server-side apply
// uses this method, too.
func (r *REST) Update(ctx context.Context, name string, info rest.UpdatedObjectInfo, admitCreate rest.ValidateObjectFunc,
	admitUpdate rest.ValidateObjectUpdateFunc, mayCreate bool, options *metav1.UpdateOptions) (runtime.Object, bool, error) {
	claim := r.claim()
	set, created, err := r.Store.Update(ctx, name, info, claim.create(r.known(r.preflight.AfterCreate(admitCreate))),
		claim.update(r.knownUpdate(unlessEmptied(r.preflight.AfterUpdate(admitUpdate)))), mayCreate, options)
	claim.end(set, options.DryRun, err)
	return set, created, explainTooLarge(err)
}

// Get returns a set.
func (r *REST) Get(ctx context.Context, name string, options *metav1.GetOptions) (runtime.Object, error) {
	set, err := r.Store.Get(ctx, name, options)
	return set, explainVersion(err)
}

// List returns sets.
func (r *REST) List(ctx context.Context, options *metainternalversion.ListOptions) (runtime.Object, error) {
	sets, err := r.Store.List(ctx, options)
	return sets, explainVersion(err)
}

// Watch watches sets.
func (r *REST) Watch(ctx context.Context, options *metainternalversion.ListOptions) (watch.Interface, error) {
	watcher, err := r.Store.Watch(ctx, options)
	return watcher, explainVersion(err)
}

// NewStorage connects the endpoints to the storage of getter. It uses the defaults and the
// generated validation of the API types in scheme. cluster and turns may be nil.
func NewStorage(scheme *runtime.Scheme, getter generic.RESTOptionsGetter, preflight preflight.Preflight, cluster Cluster,
	turns Turns) (Storage, error) {
	main := newStrategy(scheme, cluster, turns)
	store := &genericregistry.Store{
		NewFunc:                   func() runtime.Object { return &v1.StatefulSet{} },
		NewListFunc:               func() runtime.Object { return &v1.StatefulSetList{} },
		DefaultQualifiedResource:  v1.Resource("statefulsets"),
		SingularQualifiedResource: v1.Resource("statefulset"),
		CreateStrategy:            main,
		UpdateStrategy:            main,
		DeleteStrategy:            main,
		ResetFieldsStrategy:       main,
		TableConvertor:            tableConvertor{},
	}
	if err := store.CompleteWithOptions(&generic.StoreOptions{RESTOptions: getter}); err != nil {
		return Storage{}, fmt.Errorf("connecting statefulsets to storage: %w", err)
	}

	status := statusStrategy{main}
	statusStore := *store
	linkRollouts(store)
	statusStore.UpdateStrategy = status
	statusStore.ResetFieldsStrategy = status

	return Storage{
		StatefulSet: &REST{Store: store, preflight: preflight, records: main.records},
		Status:      &StatusREST{&statusStore},
		Scale:       &ScaleREST{store},
	}, nil
}
