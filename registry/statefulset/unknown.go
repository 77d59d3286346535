// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package statefulset

import (
	"context"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/apiserver/pkg/registry/rest"

	v1 "statefulset.dev/api/apps/v1"
)

// Refuse makes the storage reject sets with fields that the emulated version does not have. It does
// not drop such a field, because the user would not notice.
func (s Storage) Refuse(unknown func(runtime.Object) field.ErrorList) {
	s.StatefulSet.unknown, s.StatefulSet.records.unknown = unknown, unknown
}

// known accepts a set without unknown fields, and then calls admission. Dry runs call it, too.
func (r *REST) known(admit rest.ValidateObjectFunc) rest.ValidateObjectFunc {
	if r.unknown == nil {
		return admit
	}
	return func(ctx context.Context, obj runtime.Object) error {
		if err := r.refusal(obj); err != nil {
			return err
		}
		return admit(ctx, obj)
	}
}

func (r *REST) knownUpdate(admit rest.ValidateObjectUpdateFunc) rest.ValidateObjectUpdateFunc {
	if r.unknown == nil {
		return admit
	}
	return func(ctx context.Context, obj, old runtime.Object) error {
		if err := r.refusal(obj); err != nil {
			return err
		}
		return admit(ctx, obj, old)
	}
}

func (r *REST) refusal(obj runtime.Object) error {
	set, ok := obj.(*v1.StatefulSet)
	if !ok {
		return nil
	}
	if errs := r.unknown(set); len(errs) > 0 {
		return apierrors.NewInvalid(v1.GroupVersionKind().GroupKind(), set.Name, errs)
	}
	return nil
}
