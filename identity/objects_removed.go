// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package identity

import (
	"encoding/json"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	v1 "statefulset.dev/api/apps/v1"
	"statefulset.dev/identity/render"
)

// MostRemovedTemplates is the maximum number of removed templates whose objects are deleted.
// Objects of further ones are kept.
const MostRemovedTemplates = 16

// IsRemoved reports whether an entry of a status is for a template that was removed from the spec.
func IsRemoved(status v1.ObjectTemplateStatus) bool { return status.RemovedAt != nil }

// RemovedTemplates are the entries of a status for templates that were removed from the spec and
// whose objects will be deleted.
func RemovedTemplates(status *v1.StatefulSetStatus) (removed []v1.ObjectTemplateStatus) {
	for _, s := range status.ObjectTemplates {
		if IsRemoved(s) {
			removed = append(removed, s)
		}
	}
	return removed
}

// AddedRemovals are the removed templates of a status that the old status does not have with the
// same objects and the same retention.
func AddedRemovals(status, old *v1.StatefulSetStatus) (added []v1.ObjectTemplateStatus) {
	before := RemovedTemplates(old)
	for _, s := range RemovedTemplates(status) {
		if !slices.ContainsFunc(before, func(b v1.ObjectTemplateStatus) bool {
			return b.Name == s.Name && b.Kind == s.Kind && b.APIVersion == s.APIVersion && b.ObjectName == s.ObjectName &&
				equality.Semantic.DeepEqual(b.Retention, s.Retention)
		}) {
			added = append(added, s)
		}
	}
	return added
}

// RemovedObjects are the removed templates with the parts that are still known: the kind and the
// names of their objects.
func RemovedObjects(set *v1.StatefulSet) ([]Object, *render.Error) {
	named := *set
	named.Spec.ObjectTemplates = nil
	for _, removed := range RemovedTemplates(&set.Status) {
		kind := RemovedKind(removed)
		about := metav1.PartialObjectMetadata{
			TypeMeta: metav1.TypeMeta{APIVersion: removed.APIVersion, Kind: kind.Kind}, ObjectMeta: metav1.ObjectMeta{Name: removed.ObjectName}}
		text, err := json.Marshal(about)
		if err != nil {
			continue // impossible: these values were decoded
		}
		template := v1.ObjectTemplate{Name: removed.Name, Object: runtime.RawExtension{Raw: text}}
		if !strings.Contains(removed.ObjectName, "$(IDENTITY)") {
			template.Scope = v1.SetObjectScope
		}
		named.Spec.ObjectTemplates = append(named.Spec.ObjectTemplates, template)
	}
	return OverridesOf(&named).Objects()
}

// RemovedKind is the kind of the objects of a removed template.
func RemovedKind(removed v1.ObjectTemplateStatus) schema.GroupVersionKind {
	group := schema.ParseGroupKind(removed.Kind)
	return schema.FromAPIVersionAndKind(removed.APIVersion, group.Kind)
}

// RecordRemovedTemplates records in the status of a set which templates were removed from its spec
// and have objects to delete. The status must be that of the old set. It is called with the change
// of the spec, because the retention of a removed template is not known later. A template with
// another kind of objects, or another name of its objects, is another template. If the new spec has
// a template of the same name, its retention applies to the objects of the removed one, too.
func RecordRemovedTemplates(set, old *v1.StatefulSet, now metav1.Time) {
	if equality.Semantic.DeepEqual(set.Spec.ObjectTemplates, old.Spec.ObjectTemplates) {
		return
	}
	status, after := &set.Status, describedBy(set)
	status.ObjectTemplates = slices.DeleteFunc(slices.Clone(status.ObjectTemplates), func(s v1.ObjectTemplateStatus) bool {
		return IsRemoved(s) && slices.ContainsFunc(after, func(d described) bool { return d.keeps(s) || d.is(s) })
	})
	for _, was := range describedBy(old) {
		if slices.ContainsFunc(after, was.same) {
			continue
		}
		retention := was.retention
		if at := slices.IndexFunc(after, func(d described) bool { return d.name == was.name }); at >= 0 {
			retention = after[at].retention
		}
		present := int32(0)
		status.ObjectTemplates = slices.DeleteFunc(status.ObjectTemplates, func(s v1.ObjectTemplateStatus) bool {
			if !IsRemoved(s) && was.is(s) {
				present = s.Present
			}
			return was.isOf(s)
		})
		if _, deletes := retention.DeletesScaled(); deletes && len(RemovedTemplates(status)) < MostRemovedTemplates {
			status.ObjectTemplates = append(status.ObjectTemplates, v1.ObjectTemplateStatus{
				Name: was.name, Kind: was.kind.GroupKind().String(), ObjectName: was.pattern, Present: present,
				RemovedAt: new(now.Rfc3339Copy()), APIVersion: was.kind.GroupVersion().String(), Retention: retention.DeepCopy(),
			})
		}
	}
}

// described is the identity of a template, and the retention of its objects after its removal.
type described struct {
	name, pattern string
	kind          schema.GroupVersionKind
	retention     *v1.ObjectRetention
}

func describedBy(set *v1.StatefulSet) (all []described) {
	for i := range set.Spec.ObjectTemplates {
		template := &set.Spec.ObjectTemplates[i]
		manifest, wrong := render.ReadManifest(template.Object.Raw, "")
		if wrong != nil || manifest.Kind.Kind == "" {
			continue // validation rejects it
		}
		all = append(all, described{template.Name, manifest.Name, manifest.Kind, template.Retention})
	}
	return all
}

// same reports whether another template has the same objects, with any content.
func (d described) same(other described) bool {
	return d.name == other.name && d.pattern == other.pattern && d.kind.GroupKind() == other.kind.GroupKind()
}

// isOf reports whether an entry of a status is for a template of the same name and kind.
func (d described) isOf(s v1.ObjectTemplateStatus) bool {
	return d.name == s.Name && d.kind.GroupKind().String() == s.Kind
}

// is reports whether an entry of a status is for this template.
func (d described) is(s v1.ObjectTemplateStatus) bool { return d.isOf(s) && d.pattern == s.ObjectName }

// keeps reports whether the template has the name of a removed template, and retains objects.
func (d described) keeps(s v1.ObjectTemplateStatus) bool {
	_, deletes := d.retention.DeletesScaled()
	return d.name == s.Name && !deletes
}
