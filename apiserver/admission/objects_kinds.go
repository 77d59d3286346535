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

// resource is the one that objects of a kind are, if the host serves it as a set needs it. Rights
// are to resources, so one that is not known for sure is refused.
func (r *objectReview) resource(ctx context.Context, kind schema.GroupVersionKind, path *field.Path) (schema.GroupVersionResource, error) {
	served, err := r.served(ctx, kind, path)
	if err != nil {
		return schema.GroupVersionResource{}, err
	}
	at := path.Child("kind")
	switch {
	case len(served) == 0:
		return schema.GroupVersionResource{},
			r.invalid(field.Invalid(at, kind.Kind, "the host cluster does not serve it in version "+kind.GroupVersion().String()))
	case len(served) > 1:
		return schema.GroupVersionResource{}, r.invalid(
			field.Forbidden(at, fmt.Sprintf("never made by a set: the host cluster serves it as %q and as %q", served[0].Name, served[1].Name)))
	case !served[0].Namespaced:
		return schema.GroupVersionResource{}, r.invalid(field.Forbidden(at, "never made by a set: it is in no namespace"))
	}
	for _, verb := range keptVerbs() {
		if !slices.Contains(served[0].Verbs, verb) {
			return schema.GroupVersionResource{},
				r.invalid(field.Forbidden(at, "never made by a set: the host cluster does not let anybody "+verb+" it"))
		}
	}
	return kind.GroupVersion().WithResource(served[0].Name), nil
}

// served are the resources that the host serves for a kind.
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

// keptVerbs are what must be possible with objects that a controller makes, follows and removes.
func keptVerbs() []string { return []string{"create", "get", "list", "watch", "patch", "delete"} }

func (r *objectReview) invalid(wrong *field.Error) error {
	return apierrors.NewInvalid(r.request.GetKind().GroupKind(), r.request.GetName(), field.ErrorList{wrong})
}
