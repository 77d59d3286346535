// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package uninstall

import (
	"context"
	"fmt"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	v1 "statefulset.dev/api/apps/v1"
)

// page is the number of objects per list request.
const page = 500

// situation is the state of the cluster at the beginning of a run.
type situation struct {
	registered bool
	// unanswered is why listing the sets failed, nil if it succeeded or nothing is registered.
	unanswered error
	sets       []metav1.PartialObjectMetadata
	owned      ownedObjects
}

// answered reports whether the server has listed the sets.
func (s situation) answered() bool { return s.registered && s.unanswered == nil }

// ownedObjects counts the objects of the cluster that have a set as owner. The garbage collector
// acts on them.
type ownedObjects struct{ pods, revisions, claims int }

func (b ownedObjects) none() bool { return b == ownedObjects{} }

func (b ownedObjects) String() string {
	return fmt.Sprintf("%d pods, %d revisions and %d claims", b.pods, b.revisions, b.claims)
}

// observe reads the state of the cluster. It never concludes from an error that a set does not
// exist.
func (r *run) observe(ctx context.Context) (situation, error) {
	var s situation
	found, err := r.get(ctx, registration())
	if err != nil {
		return s, err
	}
	s.registered = found != nil
	if s.owned, err = r.countOwned(ctx); err != nil {
		return s, err
	}
	if s.registered {
		s.sets, s.unanswered = r.listSets(ctx)
	}
	return s, nil
}

func (r *run) listSets(ctx context.Context) ([]metav1.PartialObjectMetadata, error) {
	var sets []metav1.PartialObjectMetadata
	err := r.each(ctx, v1.SchemeGroupVersion.WithResource("statefulsets"),
		func(set *metav1.PartialObjectMetadata) { sets = append(sets, *set) })
	return sets, err
}

func (r *run) countOwned(ctx context.Context) (ownedObjects, error) {
	var b ownedObjects
	for _, of := range []struct {
		kind  schema.GroupVersionResource
		count *int
	}{
		{kindOf("", "pods"), &b.pods},
		{kindOf("apps", "controllerrevisions"), &b.revisions},
		{kindOf("", "persistentvolumeclaims"), &b.claims},
	} {
		err := r.each(ctx, of.kind, func(o *metav1.PartialObjectMetadata) {
			if ownedBySet(o) {
				*of.count++
			}
		})
		if err != nil {
			return b, err
		}
	}
	return b, nil
}

func ownedBySet(o *metav1.PartialObjectMetadata) bool {
	for _, owner := range o.OwnerReferences {
		if group, _, _ := strings.Cut(owner.APIVersion, "/"); group == v1.GroupName {
			return true
		}
	}
	return false
}

// each visits all objects of a kind. It reads them from etcd and not from a cache.
func (r *run) each(ctx context.Context, kind schema.GroupVersionResource, visit func(*metav1.PartialObjectMetadata)) error {
	options := metav1.ListOptions{Limit: page}
	for {
		list, err := r.objects.Resource(kind).List(ctx, options)
		if err != nil {
			return fmt.Errorf("listing %s: %w", kind.GroupResource(), err)
		}
		for i := range list.Items {
			visit(&list.Items[i])
		}
		if options.Continue = list.Continue; options.Continue == "" {
			return nil
		}
	}
}

// get returns nil for an object that does not exist.
func (r *run) get(ctx context.Context, o object) (*metav1.PartialObjectMetadata, error) {
	found, err := r.client(o).Get(ctx, o.name, metav1.GetOptions{})
	switch {
	case apierrors.IsNotFound(err):
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("getting %s: %w", o, err)
	}
	return found, nil
}
