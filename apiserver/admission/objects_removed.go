// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package admission

import (
	"context"
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"

	v1 "statefulset.dev/api/apps/v1"
	"statefulset.dev/identity"
)

// removed reviews the objects of a template that a write removes, or changes to another kind or
// other object names, if the objects are deleted as a consequence: the user and the controller must
// have the right to delete that kind. The retention may come from the template that has the name
// now, so the review of templates does not cover it. path is the path of all templates.
func (r *objectReview) removed(ctx context.Context, set, old *v1.StatefulSet, status v1.ObjectTemplateStatus, path *field.Path) error {
	about := removal{status: status}
	if at := templateNamed(set, status.Name); at >= 0 {
		path = path.Index(at).Child("retention")
		about.replaced = true
	}
	kind := identity.RemovedKind(status)
	served, err := r.served(ctx, kind, path)
	if err != nil {
		return err
	}
	if len(served) == 0 {
		if at := templateNamed(old, status.Name); at >= 0 &&
			equality.Semantic.DeepEqual(old.Spec.ObjectTemplates[at].Retention, status.Retention) {
			return nil // the deletion was reviewed with the template, and the kind may never come back
		}
		return forbidden(r.request, path, "%sthe host cluster does not serve kind %q in version %s, so it cannot decide who may delete it%s",
			about.what(), kind.Kind, kind.GroupVersion(), about.remedy())
	}
	r.about = about
	defer func() { r.about = removal{} }()
	for _, resource := range served {
		at := schema.GroupVersionResource{Group: kind.Group, Version: kind.Version, Resource: resource.Name}
		if err := r.user(ctx, at, "delete", path); err != nil {
			return err
		}
		if !r.plugin.namespaces.Has(r.request.GetNamespace()) {
			continue // the controller deletes nothing there, and reports that in the status
		}
		if err := r.controller(ctx, at, "delete", path); err != nil {
			return err
		}
	}
	return nil
}

func templateNamed(set *v1.StatefulSet, name string) int {
	return slices.IndexFunc(set.Spec.ObjectTemplates, func(t v1.ObjectTemplate) bool { return t.Name == name })
}

// removal is the part of a refusal about the removed template for which a right was requested. It
// is empty for a template that is written.
type removal struct {
	status v1.ObjectTemplateStatus
	// replaced is true if the set has another template with the same name.
	replaced bool
}

func (a removal) what() string {
	if a.status.Name == "" {
		return ""
	}
	done := "is removed"
	if a.replaced {
		done = "is replaced"
	}
	return fmt.Sprintf("template %q of %s %s %s, and its objects would be deleted: ", a.status.Name, a.status.Kind, a.status.ObjectName, done)
}

func (a removal) remedy() string {
	switch {
	case a.status.Name == "":
		return ""
	case a.replaced:
		return "; to keep them, leave out whenScaled: Delete"
	default:
		return "; to keep them, keep the template, or replace it with one of the same name without whenScaled: Delete"
	}
}
