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

// mostProtected is how many protected sets of a collection are named.
const mostProtected = 5

// Delete ends a set, unless it is protected.
func (r *REST) Delete(ctx context.Context, name string, admit rest.ValidateObjectFunc,
	options *metav1.DeleteOptions) (runtime.Object, bool, error) {
	return r.Store.Delete(ctx, name, unlessProtected(admit), options)
}

// DeleteCollection ends sets, if none of them is protected. The generic store would end those
// that it comes to before it comes to a protected one. A set that is protected between the look
// and its turn stays, too, but then others may be gone.
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

// unlessProtected looks at the set in the version that is about to be deleted, and before
// admission, which may count what it lets through.
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

// unlessEmptied lets an update through that leaves a protected set with members.
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

// refuseEmptying refuses to take all members of a set that is stored as protected, whatever the new
// set says of protection: to end it takes a write of its own, so that no manifest which is
// applied by mistake does both.
func refuseEmptying(set, stored *v1.StatefulSet) error {
	if _, protected := v1.Protected(stored); !protected || ptr.Deref(set.Spec.Replicas, 1) != 0 || ptr.Deref(stored.Spec.Replicas, 1) == 0 {
		return nil
	}
	return forbidden(stored, v1.ExplainProtection(stored))
}

// protectedAmong names the protected sets of a collection that is to be deleted.
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

// forbidden is an error whose words are the message alone: nobody lacks a permission, as the
// usual beginning would suggest.
func forbidden(set *v1.StatefulSet, message string) error {
	err := apierrors.NewForbidden(v1.Resource("statefulsets"), set.Name, errors.New(message))
	err.ErrStatus.Message = message
	return err
}

// misleading warns of values that say the opposite of what the annotation does.
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
