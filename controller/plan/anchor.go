// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"statefulset.dev/identity"
)

// findAnchor finds what owns those objects of the set that are deleted with it.
func (f *facts) findAnchor() {
	for i := range f.Set.Spec.ObjectTemplates {
		f.anchors = f.anchors || f.Set.Spec.ObjectTemplates[i].DeletesWithSet()
	}
	name := identity.AnchorName(f.Set)
	for _, r := range f.Revisions {
		if r.Name == name {
			f.anchor = r
		}
	}
}

// anchorHolds reports whether what the anchor owns is deleted with the set, and not before.
func (f *facts) anchorHolds() bool {
	return f.anchor != nil && f.anchor.DeletionTimestamp == nil && slices.ContainsFunc(f.anchor.OwnerReferences, func(ref metav1.OwnerReference) bool { return ref.UID == f.Set.UID })
}

// ownersFor are the owner references that an object of a template is made with, and false if what it is
// to belong to is not there.
func (f *facts) ownersFor(template identity.Object) (owners []metav1.OwnerReference, known bool) {
	switch {
	case !template.Template().DeletesWithSet():
		return nil, true
	case !f.anchorHolds():
		return nil, false
	default:
		return []metav1.OwnerReference{identity.OwnerOfObjects(f.anchor)}, true
	}
}

// goesWithAnchor reports whether an object is about to be deleted with an anchor: that of this set or of
// an earlier one of its name.
func (f *facts) goesWithAnchor(object *Object) bool {
	return slices.ContainsFunc(object.OwnerReferences, func(ref metav1.OwnerReference) bool {
		if !identity.IsAnchor(ref, f.Set.Name) {
			return false
		}
		at := slices.IndexFunc(f.Revisions, func(r *appsv1.ControllerRevision) bool { return r.UID == ref.UID })
		return at < 0 || f.Revisions[at].DeletionTimestamp != nil || f.ownedByEarlierSet(f.Revisions[at])
	})
}

// keepAnchor makes the anchor of a set that has objects deleted with it, and has it belong to the set.
// One that nothing needs any more stays: it goes with the set, too.
func keepAnchor(f *facts, d *draft) verdict {
	switch {
	case !f.anchors || f.anchorHolds():
	case f.anchor == nil:
		d.aside = append(d.aside, Chain{CreateAnchor{Anchor: identity.Anchor(f.Set)}})
	case f.anchor.DeletionTimestamp == nil:
		d.aside = append(d.aside, Chain{OwnAnchor{Anchor: exact(f.anchor)}})
	}
	return proceed
}

// releaseObjects has objects of members that are not wanted belong to the anchor or not, as their
// templates say now: nothing else is written to them that could tell.
func releaseObjects(f *facts, d *draft) verdict {
	for _, key := range f.unwantedObjects() {
		object := f.Objects[key]
		of := f.templateOf(key, object)
		owners, known := f.ownersFor(*of)
		if !known || f.isDealtWith(object) {
			continue
		}
		if due := slices.Concat(ownersBeside(object, f.Set.Name), owners); !sameOwners(due, object.OwnerReferences) {
			d.forObject(SetObjectOwners{Ordinal: ordinalOf(object), Template: of.Template().Name, Kind: of.Kind(), At: exact(object), Owners: due})
		}
	}
	return proceed
}

// unwantedObjects are the set's own objects, in order, that were made from a template which it has, and
// of which no more is to be seen to.
func (f *facts) unwantedObjects() (keys []identity.ObjectKey) {
	for key, object := range f.Objects {
		if !f.isJudged(key, object) || !f.isOwn(object) || f.needsObject(key) {
			continue
		}
		of := f.templateOf(key, object)
		if of == nil {
			continue
		}
		if _, seen := f.supporting[objectPlace{of.Template().Name, ordinalOf(object)}]; !seen {
			keys = append(keys, key)
		}
	}
	slices.SortFunc(keys, identity.ObjectKey.Compare)
	return keys
}

// isDealtWith reports whether something is noted on an object now, or it is deleted.
func (f *facts) isDealtWith(object *Object) bool {
	return slices.ContainsFunc(f.returningObjects, func(r retiredObject) bool { return r.found == object }) ||
		slices.ContainsFunc(f.retired, func(r retiredObject) bool { return r.found == object && (r.since.IsZero() || !f.Now.Before(r.due)) })
}

// ownersBeside are the owners of an object that are no anchor of a set of the name.
func ownersBeside(object *Object, set string) []metav1.OwnerReference {
	return slices.DeleteFunc(slices.Clone(object.OwnerReferences), func(ref metav1.OwnerReference) bool { return identity.IsAnchor(ref, set) })
}

// sameOwners reports whether two lists have the same owners, in whatever order.
func sameOwners(a, b []metav1.OwnerReference) bool {
	has := func(all []metav1.OwnerReference, ref metav1.OwnerReference) bool {
		return slices.ContainsFunc(all, func(other metav1.OwnerReference) bool { return other.UID == ref.UID })
	}
	missing := func(ref metav1.OwnerReference) bool { return !has(b, ref) }
	return len(a) == len(b) && !slices.ContainsFunc(a, missing)
}
