// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "statefulset.dev/api/apps/v1"
	"statefulset.dev/identity"
)

// mostKept is how many objects of a set are read. A set has at most some thousand members.
const mostKept = 50_000

// retryAfter is how many seconds a client should wait before it requests a plan again.
const retryAfter = 5

// reader reads from a namespace of the cluster what concerns one set.
type reader struct {
	kinds kinds
	set   *v1.StatefulSet
	into  view
	kept  int
}

// read lists with the same selectors with which a controller watches, and keeps the objects that
// would wake the controller for the set.
func (r *reader) read(ctx context.Context) error {
	only := newView(r.kinds)
	if err := only.put(setsResource, r.set); err != nil {
		return err
	}
	for i := range r.kinds {
		kind := &r.kinds[i]
		if kind.list == nil {
			continue
		}
		err := kind.pages(ctx, r.set.Namespace, func(object metav1.Object) error {
			if len(kind.setsOf(only, object)) == 0 {
				return nil
			}
			return r.keep(kind, only, object)
		})
		if err != nil {
			return unreadable(kind.resource, err)
		}
	}
	return nil
}

// keep puts an object into the view, trimmed as in the caches of a controller that knows the set.
func (r *reader) keep(kind *kind, only view, object metav1.Object) error {
	if r.kept++; r.kept > mostKept {
		return apierrors.NewRequestEntityTooLargeError(
			fmt.Sprintf("cannot compute the plan of %s: it has more than %d pods, claims and revisions, which is the limit", r.set.Name, mostKept))
	}
	object.SetOwnerReferences(r.unnamed(object.GetOwnerReferences()))
	return r.into.put(kind.resource, kind.trim(only, object))
}

// unnamed removes the names of owners that do not belong to the set, because the user who requests
// a plan may not be allowed to see them. Sets with the name, and pods of members, keep their names,
// because they are recognized by them.
func (r *reader) unnamed(owners []metav1.OwnerReference) []metav1.OwnerReference {
	var all []metav1.OwnerReference
	for _, owner := range owners {
		member, _, named := identity.ParsePodName(owner.Name)
		ours := owner.UID == r.set.UID || owner.Kind == v1.Kind && owner.Name == r.set.Name ||
			owner.Kind == "Pod" && named && member == r.set.Name
		if !ours {
			owner.APIVersion, owner.Kind, owner.Name = "an", "unnamed", "object"
		}
		all = append(all, owner)
	}
	return all
}

// unreadable tells the client that the cluster did not answer, and when to retry.
func unreadable(kind resource, err error) error {
	if apierrors.IsRequestEntityTooLargeError(err) {
		return err
	}
	answer := apierrors.NewServiceUnavailable(fmt.Sprintf("cannot compute the plan, because the host cluster did not list %s: %v", kind, err))
	answer.ErrStatus.Details = &metav1.StatusDetails{RetryAfterSeconds: retryAfter}
	return answer
}
