// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package statefulset

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metainternalversion "k8s.io/apimachinery/pkg/apis/meta/internalversion"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apiserver/pkg/registry/rest"
	"k8s.io/utils/ptr"

	v1 "statefulset.dev/api/apps/v1"
)

// mostProtected is the maximum number of protected sets of a collection that an error names.
const mostProtected = 5

// Delete deletes a set, unless it is protected.
func (r *REST) Delete(ctx context.Context, name string, admit rest.ValidateObjectFunc,
	options *metav1.DeleteOptions) (runtime.Object, bool, error) {
	return r.Store.Delete(ctx, name, unlessProtected(admit), options)
}

// DeleteCollection deletes sets, if none of them is protected. The generic store would delete the
// sets before the first protected one. A set that becomes protected after the check is kept, too,
// but then other sets may be deleted already.
func (r *REST) DeleteCollection(ctx context.Context, admit rest.ValidateObjectFunc, options *metav1.DeleteOptions,
	which *metainternalversion.ListOptions) (runtime.Object, error) {
	found, err := r.List(ctx, which.DeepCopy())
	if err != nil {
		return nil, err
	}
	list, ok := found.(*v1.StatefulSetList)
	if !ok {
		return nil, apierrors.NewInternalError(fmt.Errorf("expected a StatefulSetList, got %T", found))
	}
	if err := protectedAmong(list.Items); err != nil {
		return nil, err
	}
	return r.Store.DeleteCollection(ctx, unlessProtected(admit), options, which)
}

// unlessProtected checks the set in the version that is about to be deleted. It does so before
// admission, which may count what it admits.
func unlessProtected(admit rest.ValidateObjectFunc) rest.ValidateObjectFunc {
	return func(ctx context.Context, obj runtime.Object) error {
		if set, ok := obj.(*v1.StatefulSet); ok {
			if _, protected := v1.Protected(set); protected {
				return forbidden(set, v1.ExplainProtection(set))
			}
		}
		return admit(ctx, obj)
	}
}

// unlessEmptied rejects an update that leaves a protected set without members.
func unlessEmptied(admit rest.ValidateObjectUpdateFunc) rest.ValidateObjectUpdateFunc {
	return func(ctx context.Context, obj, old runtime.Object) error {
		set, isSet := obj.(*v1.StatefulSet)
		stored, wasSet := old.(*v1.StatefulSet)
		if isSet && wasSet {
			if err := refuseEmptying(set, stored); err != nil {
				return err
			}
		}
		return admit(ctx, obj, old)
	}
}

// refuseEmptying rejects the removal of all members of a set that is protected in the store,
// whatever the new set contains. The end of the protection needs a separate write, so that a
// manifest that is applied by mistake cannot do both.
func refuseEmptying(set, stored *v1.StatefulSet) error {
	if _, protected := v1.Protected(stored); !protected || ptr.Deref(set.Spec.Replicas, 1) != 0 || ptr.Deref(stored.Spec.Replicas, 1) == 0 {
		return nil
	}
	return forbidden(stored, v1.ExplainProtection(stored))
}

// protectedAmong returns an error that names the protected sets of a collection.
func protectedAmong(sets []v1.StatefulSet) error {
	protected := slices.DeleteFunc(slices.Clone(sets), func(set v1.StatefulSet) bool {
		_, protected := v1.Protected(&set)
		return !protected
	})
	if len(protected) == 0 {
		return nil
	}
	var texts []string
	for i := range protected[:min(len(protected), mostProtected)] {
		texts = append(texts, v1.ExplainProtection(&protected[i]))
	}
	if more := len(protected) - len(texts); more > 0 {
		texts = append(texts, fmt.Sprintf("%d more are protected", more))
	}
	return forbidden(&protected[0], "nothing was deleted: "+strings.Join(texts, "; "))
}

// forbidden returns an error with exactly this message. The usual prefix would suggest that the
// user lacks a permission.
func forbidden(set *v1.StatefulSet, message string) error {
	err := apierrors.NewForbidden(v1.Resource("statefulsets"), set.Name, errors.New(message))
	err.ErrStatus.Message = message
	return err
}

// misleading warns about values that contradict the effect of the annotation.
func misleading(set, old *v1.StatefulSet) []string {
	value, given := set.Annotations[v1.ProtectAnnotation]
	if !given || old != nil && old.Annotations[v1.ProtectAnnotation] == value {
		return nil
	}
	if !slices.Contains([]string{"false", "no", "off", "0"}, strings.ToLower(strings.TrimSpace(value))) {
		return nil
	}
	return []string{fmt.Sprintf("metadata.annotations[%s]: %q protects the set, as every value does; remove the annotation to end that",
		v1.ProtectAnnotation, value)}
}
