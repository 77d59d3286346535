// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "statefulset.dev/api/apps/v1"
	"statefulset.dev/controller/plan/action"
	"statefulset.dev/identity"
)

// findAnchor finds the anchor: the owner of the objects that are deleted with the set. It does
// nothing if the set has no such objects.
func (o *supportingObjects) findAnchor() {
	o.anchored = slices.ContainsFunc(o.world.Set.Spec.ObjectTemplates, func(t v1.ObjectTemplate) bool { return t.DeletesWithSet() })
	if !o.anchored {
		return
	}
	name := identity.AnchorName(o.world.Set)
	at := slices.IndexFunc(o.world.Revisions, func(r *appsv1.ControllerRevision) bool { return r.Name == name })
	if at < 0 {
		return
	}
	o.anchor = o.world.Revisions[at]
	if o.anchor.DeletionTimestamp == nil &&
		slices.ContainsFunc(o.anchor.OwnerReferences, func(ref metav1.OwnerReference) bool { return ref.UID == o.world.Set.UID }) {
		o.anchorOwners = []metav1.OwnerReference{identity.OwnerOfObjects(o.anchor)}
	}
}

// ownersFor are the owner references of a new object of a template. It reports false if the owner
// does not exist yet.
func (o *supportingObjects) ownersFor(template identity.Object) (owners []metav1.OwnerReference, known bool) {
	if !template.GoesWithSet() {
		return nil, true
	}
	return o.anchorOwners, o.anchorOwners != nil
}

// goesWithAnchor reports whether an object is about to be deleted with an anchor of this set or of
// an earlier set of its name.
func (o *supportingObjects) goesWithAnchor(object *Object) bool {
	return slices.ContainsFunc(object.OwnerReferences, func(ref metav1.OwnerReference) bool {
		if !identity.IsAnchor(ref, o.world.Set.Name) {
			return false
		}
		at := slices.IndexFunc(o.world.Revisions, func(r *appsv1.ControllerRevision) bool { return r.UID == ref.UID })
		return at < 0 || o.world.Revisions[at].DeletionTimestamp != nil || o.ownedByEarlierSet(o.world.Revisions[at])
	})
}

// keepAnchor creates the anchor of a set whose objects are deleted with it, and makes the set its
// owner. An anchor that is no longer needed stays: it is deleted with the set, too.
func keepAnchor(f *facts, d *draft) verdict {
	switch o := f.supporting; {
	case !o.anchored || o.anchorOwners != nil:
	case o.anchor == nil:
		d.finally = append(d.finally, action.Chain{action.CreateAnchor{Anchor: identity.Anchor(f.world.Set)}})
	case o.anchor.DeletionTimestamp == nil:
		d.finally = append(d.finally, action.Chain{action.OwnAnchor{Anchor: action.Exact(o.anchor)}})
	}
	return proceed
}

// keepObjectOwners adds the anchor to the owners of the objects of surplus members, or removes it
// from them, as their templates now require. No other rule writes these objects, so no other write
// would change their owners.
func keepObjectOwners(f *facts, d *draft) verdict {
	var due []action.SetObjectOwners
	for key, object := range f.world.Objects {
		if act, differs := f.supporting.ownerChange(key, object); differs {
			due = append(due, act)
		}
	}
	slices.SortFunc(due, action.SetObjectOwners.Compare)
	for _, act := range due {
		d.addForObject(act)
	}
	return proceed
}

// ownerChange is the action that gives an object the owners that its template requires. It reports
// false if the object has them already, if another rule handles the object, or if the object was
// not created by this set from one of its current templates.
func (o *supportingObjects) ownerChange(key identity.ObjectKey, object *Object) (a action.SetObjectOwners, differs bool) {
	ordinal := ordinalOf(object)
	if _, seen := o.places[objectPlace{object.Labels[v1.ObjectTemplateLabel], ordinal}]; seen || !o.isJudged(key, object) || !o.isOwn(object) {
		return a, false
	}
	of := o.templateOf(key, object)
	if of == nil || o.needsObject(key) {
		return a, false
	}
	owners, known := o.ownersFor(*of)
	owners = slices.Concat(ownersExceptAnchor(object, o.world.Set.Name), owners)
	if !known || sameOwners(owners, object.OwnerReferences) || o.isDealtWith(object) {
		return a, false
	}
	return action.SetObjectOwners{Ordinal: ordinal, Template: of.Template().Name, Kind: of.Kind(), At: action.Exact(object), Owners: owners,
		Digest: of.WithOwner(object.Annotations[v1.ObjectInputsAnnotation])}, true
}

// isDealtWith reports whether the retired-at annotation of an object must be set or removed now, or
// the object must be deleted.
func (o *supportingObjects) isDealtWith(object *Object) bool {
	return slices.ContainsFunc(o.returning, func(r retiredObject) bool { return r.found == object }) ||
		slices.ContainsFunc(o.retired, func(r retiredObject) bool {
			return r.found == object && (r.since.IsZero() || r.proven && !o.world.Now.Before(r.due))
		})
}

// ownersExceptAnchor are the owners of an object without the anchors of sets of that name.
func ownersExceptAnchor(object *Object, set string) []metav1.OwnerReference {
	return slices.DeleteFunc(slices.Clone(object.OwnerReferences), func(ref metav1.OwnerReference) bool { return identity.IsAnchor(ref, set) })
}

// sameOwners reports whether two lists contain the same owners, in any order.
func sameOwners(a, b []metav1.OwnerReference) bool {
	has := func(all []metav1.OwnerReference, ref metav1.OwnerReference) bool {
		return slices.ContainsFunc(all, func(other metav1.OwnerReference) bool { return other.UID == ref.UID })
	}
	missing := func(ref metav1.OwnerReference) bool { return !has(b, ref) }
	return len(a) == len(b) && !slices.ContainsFunc(a, missing)
}
