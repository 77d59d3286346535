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

// mostKept is how many objects of a set are looked at. A set has at most some
// thousand members.
const mostKept = 50_000

// retryAfter is how many seconds a client waits until it asks for a plan again.
const retryAfter = 5

// reader reads of a namespace of the host what concerns one set.
type reader struct {
	kinds kinds
	set   *v1.StatefulSet
	into  view
	kept  int
}

// read lists with the selections that a controller watches with, and keeps what wakes
// the controller for the set.
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

// keep puts an object into the view, as a controller keeps it that knows the set.
func (r *reader) keep(kind *kind, only view, object metav1.Object) error {
	if r.kept++; r.kept > mostKept {
		return apierrors.NewRequestEntityTooLargeError(
			fmt.Sprintf("the plan of %s is not made: it has more than %d pods, claims and revisions, which is the limit", r.set.Name, mostKept))
	}
	object.SetOwnerReferences(r.unnamed(object.GetOwnerReferences()))
	return r.into.put(kind.resource, kind.trim(only, object))
}

// unnamed takes their names from owners that are not the set's business: who may ask for
// plans need not be one who may see them. Sets of the name, and pods of members, keep
// theirs, by which they are recognized.
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

// unreadable tells the client that the host does not answer, and when to ask again.
func unreadable(kind resource, err error) error {
	if apierrors.IsRequestEntityTooLargeError(err) {
		return err
	}
	answer := apierrors.NewServiceUnavailable(fmt.Sprintf("the plan cannot be made, because the host cluster does not list %s: %v", kind, err))
	answer.ErrStatus.Details = &metav1.StatusDetails{RetryAfterSeconds: retryAfter}
	return answer
}
