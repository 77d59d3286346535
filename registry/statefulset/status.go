// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package statefulset

import (
	"context"

	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/apiserver/pkg/authentication/user"
	apirequest "k8s.io/apiserver/pkg/endpoints/request"
	genericregistry "k8s.io/apiserver/pkg/registry/generic/registry"
	"k8s.io/apiserver/pkg/registry/rest"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	v1 "statefulset.dev/api/apps/v1"
)

// StatusREST serves /status. It shares the store with REST, which destroys it.
type StatusREST struct {
	store *genericregistry.Store
}

var (
	_ rest.Patcher             = &StatusREST{}
	_ rest.TableConvertor      = &StatusREST{}
	_ rest.ResetFieldsStrategy = &StatusREST{}
)

// New is an empty set, into which a request is decoded.
func (*StatusREST) New() runtime.Object { return &v1.StatefulSet{} }

// Destroy does nothing: REST destroys the shared store.
func (*StatusREST) Destroy() {}

// Get returns the whole set.
func (r *StatusREST) Get(ctx context.Context, name string, options *metav1.GetOptions) (runtime.Object, error) {
	return r.store.Get(ctx, name, options)
}

// Update changes the status of an existing set. It never creates one, whatever forceAllowCreate is.
func (r *StatusREST) Update(ctx context.Context, name string, info rest.UpdatedObjectInfo, createValidation rest.ValidateObjectFunc,
	updateValidation rest.ValidateObjectUpdateFunc, _ bool, options *metav1.UpdateOptions) (runtime.Object, bool, error) {
	set, created, err := r.store.Update(ctx, name, info, createValidation, updateValidation, false, options)
	return set, created, explainTooLarge(err)
}

// GetResetFields returns the fields that a write to /status cannot change.
func (r *StatusREST) GetResetFields() map[fieldpath.APIVersion]*fieldpath.Set {
	return r.store.GetResetFields()
}

// ConvertToTable prints a set.
func (r *StatusREST) ConvertToTable(ctx context.Context, object, options runtime.Object) (*metav1.Table, error) {
	return r.store.ConvertToTable(ctx, object, options)
}

// statusStrategy is the strategy for writes to /status. They do not change the spec, nor the
// generation.
type statusStrategy struct {
	strategy
}

func (statusStrategy) GetResetFields() map[fieldpath.APIVersion]*fieldpath.Set {
	return resetFields("spec")
}

// PrepareForUpdate keeps the records of the controller if a client omits them, because the client
// may not know these fields.
func (statusStrategy) PrepareForUpdate(ctx context.Context, obj, old runtime.Object) {
	set, oldSet := obj.(*v1.StatefulSet), old.(*v1.StatefulSet)
	set.Spec = oldSet.Spec
	if set.Status.Rollout == nil && !isController(ctx) {
		set.Status.Rollout = oldSet.Status.Rollout
	}
	if set.Status.Replacements == nil && !isController(ctx) {
		set.Status.Replacements = oldSet.Status.Replacements
	}
	if set.Status.ObjectTemplates == nil && !isController(ctx) {
		set.Status.ObjectTemplates = oldSet.Status.ObjectTemplates
	}
	if set.Status.Evaluation == nil && !isController(ctx) {
		set.Status.Evaluation = oldSet.Status.Evaluation
	}
	if set.Status.UserActions == nil { // the controller never removes them either
		set.Status.UserActions = oldSet.Status.UserActions
	}
	if !isController(ctx) {
		recordRelease(ctx, set, oldSet)
	}
}

func (statusStrategy) ValidateUpdate(ctx context.Context, obj, old runtime.Object) field.ErrorList {
	set, oldSet := obj.(*v1.StatefulSet), old.(*v1.StatefulSet)
	errs := ValidateStatusUpdate(set, oldSet)
	if !isController(ctx) && !equality.Semantic.DeepEqual(set.Status.Rollout, oldSet.Status.Rollout) {
		errs = append(errs,
			field.Forbidden(field.NewPath("status", "rollout"), "only statefulsets/rollout and the controller change this field; send it unchanged, or omit it"))
	}
	if !isController(ctx) && !equality.Semantic.DeepEqual(set.Status.Replacements, oldSet.Status.Replacements) {
		errs = append(errs, field.Forbidden(field.NewPath("status", "replacements"),
			"only statefulsets/replace and the controller change this field; send it unchanged, or omit it"))
	}
	if !isController(ctx) && !equality.Semantic.DeepEqual(set.Status.ObjectTemplates, oldSet.Status.ObjectTemplates) {
		errs = append(errs,
			field.Forbidden(field.NewPath("status", "objectTemplates"), "only the controller changes this field; send it unchanged, or omit it"))
	}
	if !isController(ctx) && !equality.Semantic.DeepEqual(set.Status.Evaluation, oldSet.Status.Evaluation) {
		errs = append(errs, field.Forbidden(field.NewPath("status", "evaluation"),
			"only the controller changes this field; send it unchanged, or omit it; to release a set: kubectl sts evaluate"))
	}
	if !isController(ctx) && !keepsActions(set, oldSet) {
		errs = append(errs,
			field.Forbidden(field.NewPath("status", "userActions"), "only the server and the controller change this field; send it unchanged, or omit it"))
	}
	return errs
}

// isController reports whether a request comes from this server itself.
func isController(ctx context.Context) bool {
	sender, ok := apirequest.UserFrom(ctx)
	return ok && sender.GetName() == user.APIServerUser
}

func (statusStrategy) WarningsOnUpdate(context.Context, runtime.Object, runtime.Object) []string {
	return nil
}
