// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package admission

import (
	"context"
	"fmt"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// resource returns the resource of objects of a kind, if the host cluster serves it as a set needs
// it. Rights are for resources, so an ambiguous kind is refused.
func (r *objectReview) resource(ctx context.Context, kind schema.GroupVersionKind, path *field.Path) (schema.GroupVersionResource, error) {
	served, err := r.served(ctx, kind, path)
	if err != nil {
		return schema.GroupVersionResource{}, err
	}
	at := path.Child("kind")
	switch {
	case len(served) == 0:
		return schema.GroupVersionResource{},
			r.invalid(field.Invalid(at, kind.Kind, "the host cluster does not serve this kind in version "+kind.GroupVersion().String()))
	case len(served) > 1:
		return schema.GroupVersionResource{}, r.invalid(
			field.Forbidden(at, fmt.Sprintf("never created by a set: the host cluster serves it both as %q and as %q", served[0].Name, served[1].Name)))
	case !served[0].Namespaced:
		return schema.GroupVersionResource{}, r.invalid(field.Forbidden(at, "never created by a set: it is not namespaced"))
	}
	for _, verb := range keptVerbs() {
		if !slices.Contains(served[0].Verbs, verb) {
			return schema.GroupVersionResource{},
				r.invalid(field.Forbidden(at, "never created by a set: the host cluster does not support verb "+verb+" for it"))
		}
	}
	return kind.GroupVersion().WithResource(served[0].Name), nil
}

// served returns the resources that the host cluster serves for a kind.
func (r *objectReview) served(ctx context.Context, kind schema.GroupVersionKind, path *field.Path) ([]metav1.APIResource, error) {
	if served, known := r.resources[kind]; known {
		return served, nil
	}
	served, err := r.plugin.host.ResourcesOf(ctx, kind)
	if err != nil {
		return nil, unanswered(path, err)
	}
	r.resources[kind] = served
	return served, nil
}

// keptVerbs returns the verbs that the resource must support, because a controller creates, watches
// and deletes the objects.
func keptVerbs() []string { return []string{"create", "get", "list", "watch", "patch", "delete"} }

func (r *objectReview) invalid(wrong *field.Error) error {
	return apierrors.NewInvalid(r.request.GetKind().GroupKind(), r.request.GetName(), field.ErrorList{wrong})
}
