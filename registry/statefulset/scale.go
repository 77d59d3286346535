// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package statefulset

import (
	"context"
	"fmt"

	autoscalingv1 "k8s.io/api/autoscaling/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/managedfields"
	"k8s.io/apimachinery/pkg/util/validation/field"
	genericregistry "k8s.io/apiserver/pkg/registry/generic/registry"
	"k8s.io/apiserver/pkg/registry/rest"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	v1 "statefulset.dev/api/apps/v1"
)

// ScaleREST serves /scale. It shares the store with REST, which destroys it.
type ScaleREST struct {
	store *genericregistry.Store
}

var (
	_ rest.Patcher                  = &ScaleREST{}
	_ rest.TableConvertor           = &ScaleREST{}
	_ rest.GroupVersionKindProvider = &ScaleREST{}
)

// GroupVersionKind declares that the body of /scale is not of our group.
func (*ScaleREST) GroupVersionKind(schema.GroupVersion) schema.GroupVersionKind {
	return autoscalingv1.SchemeGroupVersion.WithKind("Scale")
}

// New is an empty Scale, into which a request is decoded.
func (*ScaleREST) New() runtime.Object { return &autoscalingv1.Scale{} }

// Destroy does nothing: REST destroys the shared store.
func (*ScaleREST) Destroy() {}

// Get returns the set as a Scale.
func (r *ScaleREST) Get(ctx context.Context, name string, options *metav1.GetOptions) (runtime.Object, error) {
	set, err := r.store.Get(ctx, name, options)
	if err != nil {
		return nil, err
	}
	return scaleOf(set)
}

// Update changes the replicas of an existing set. It never creates one, whatever forceAllowCreate
// is.
func (r *ScaleREST) Update(ctx context.Context, name string, info rest.UpdatedObjectInfo, createValidation rest.ValidateObjectFunc,
	updateValidation rest.ValidateObjectUpdateFunc, _ bool, options *metav1.UpdateOptions) (runtime.Object, bool, error) {
	set, _, err := r.store.Update(ctx, name, scaledSet{name, info},
		createValidation, unlessEmptied(admitScaleUpdate(updateValidation)), false, options)
	if err != nil {
		return nil, false, explainTooLarge(err)
	}
	scale, err := scaleOf(set)
	return scale, false, err
}

// ConvertToTable prints the name and age of a Scale.
func (r *ScaleREST) ConvertToTable(ctx context.Context, object, options runtime.Object) (*metav1.Table, error) {
	return rest.NewDefaultTableConvertor(v1.Resource("statefulsets/scale")).ConvertToTable(ctx, object, options)
}

// admitScaleUpdate passes Scales to admission, while the store uses sets.
func admitScaleUpdate(validate rest.ValidateObjectUpdateFunc) rest.ValidateObjectUpdateFunc {
	return func(ctx context.Context, obj, old runtime.Object) error {
		scale, err := scaleOf(obj)
		if err != nil {
			return err
		}
		oldScale, err := scaleOf(old)
		if err != nil {
			return err
		}
		return validate(ctx, scale, oldScale)
	}
}

// scaleOf returns a set as a Scale. It has the UID of the set, with which the disruption controller
// identifies the owner of pods.
func scaleOf(obj runtime.Object) (*autoscalingv1.Scale, error) {
	set, ok := obj.(*v1.StatefulSet)
	if !ok {
		return nil, apierrors.NewInternalError(fmt.Errorf("expected a StatefulSet, got %T", obj))
	}
	selector, err := metav1.LabelSelectorAsSelector(set.Spec.Selector)
	if err != nil {
		return nil, apierrors.NewBadRequest(fmt.Sprintf("reading spec.selector: %v", err))
	}
	return &autoscalingv1.Scale{
		ObjectMeta: metav1.ObjectMeta{
			Name:              set.Name,
			Namespace:         set.Namespace,
			UID:               set.UID,
			ResourceVersion:   set.ResourceVersion,
			CreationTimestamp: set.CreationTimestamp,
		},
		Spec:   autoscalingv1.ScaleSpec{Replicas: ptr.Deref(set.Spec.Replicas, 1)},
		Status: autoscalingv1.ScaleStatus{Replicas: set.Status.Replicas, Selector: selector.String()},
	}, nil
}

// scaledSet converts the stored set to a Scale, lets the client change it, and applies the change
// to the set.
type scaledSet struct {
	name   string
	client rest.UpdatedObjectInfo
}

// Preconditions are those of the client. The UID of a Scale is that of its set.
func (s scaledSet) Preconditions() *metav1.Preconditions { return s.client.Preconditions() }

// UpdatedObject returns the set with the replicas that the client requests.
func (s scaledSet) UpdatedObject(ctx context.Context, stored runtime.Object) (runtime.Object, error) {
	set, ok := stored.DeepCopyObject().(*v1.StatefulSet)
	if !ok {
		return nil, apierrors.NewInternalError(fmt.Errorf("expected a StatefulSet, got %T", stored))
	}
	owners := scaleOwners(set)

	old, err := scaleOf(set)
	if err != nil {
		return nil, err
	}
	if old.ManagedFields, err = owners.ToSubresource(); err != nil {
		return nil, err
	}
	wanted, err := s.wantedScale(ctx, set, old)
	if err != nil {
		return nil, err
	}

	set.Spec.Replicas = &wanted.Spec.Replicas
	set.ResourceVersion = wanted.ResourceVersion // the store compares it
	set.ManagedFields, err = owners.ToParent(wanted.ManagedFields)
	return set, err
}

// wantedScale lets the client change old, and rejects an invalid result.
func (s scaledSet) wantedScale(ctx context.Context, set *v1.StatefulSet, old *autoscalingv1.Scale) (*autoscalingv1.Scale, error) {
	obj, err := s.client.UpdatedObject(ctx, old)
	if err != nil {
		return nil, err
	}
	scale, ok := obj.(*autoscalingv1.Scale)
	if !ok {
		return nil, apierrors.NewBadRequest(fmt.Sprintf("expected a Scale, got %T", obj))
	}
	if errs := validateScale(scale); len(errs) > 0 {
		return nil, apierrors.NewInvalid(autoscalingv1.SchemeGroupVersion.WithKind("Scale").GroupKind(), s.name, errs)
	}
	if scale.UID != "" && scale.UID != set.UID {
		return nil, apierrors.NewConflict(v1.Resource("statefulsets/scale"), s.name,
			fmt.Errorf("the request is for the set with UID %s, but the set of this name has UID %s", scale.UID, set.UID))
	}
	return scale, nil
}

func validateScale(scale *autoscalingv1.Scale) field.ErrorList {
	return atLeastZero(int64(scale.Spec.Replicas), field.NewPath("spec", "replicas"))
}

// scaleOwners translates the field ownership of spec.replicas between the set and its Scale.
func scaleOwners(set *v1.StatefulSet) *managedfields.ScaleHandler {
	version := v1.SchemeGroupVersion
	return managedfields.NewScaleHandler(set.ManagedFields, version, managedfields.ResourcePathMappings{
		version.String(): fieldpath.MakePathOrDie("spec", "replicas"),
	})
}
