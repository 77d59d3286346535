// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"slices"
	"strconv"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	v1 "statefulset.dev/api/apps/v1"
	"statefulset.dev/controller/plan/action"
	"statefulset.dev/identity"
)

// isAnchorRef reports whether a reference is to the anchor of some set named web.
func isAnchorRef(ref metav1.OwnerReference) bool {
	return ref.Kind == "ControllerRevision" && ref.APIVersion == "apps/v1" && strings.HasPrefix(ref.Name, "web-objects")
}

// isAnchor reports whether a revision records no template: it is what objects belong to.
func isAnchor(revision *appsv1.ControllerRevision) bool {
	return strings.HasPrefix(revision.Name, "web-objects")
}

// owner is the revision that goes with the set and not before, nil if there is none: it belongs to the
// set and is not controlled by it.
func (f evidence) owner() *appsv1.ControllerRevision {
	for _, r := range f.revisions {
		owned := slices.ContainsFunc(r.OwnerReferences, func(ref metav1.OwnerReference) bool {
			return ref.UID == f.Set.UID && (ref.Controller == nil || !*ref.Controller)
		})
		if owned && isAnchor(r) && r.DeletionTimestamp == nil {
			return r
		}
	}
	return nil
}

// isLoose reports whether an object is about to be deleted: what it belongs to is gone, or is to go with
// an earlier set.
func (f evidence) isLoose(object *Object) bool {
	return slices.ContainsFunc(object.OwnerReferences, func(ref metav1.OwnerReference) bool {
		if !isAnchorRef(ref) {
			return false
		}
		for _, r := range f.revisions {
			if r.UID == ref.UID {
				return r.DeletionTimestamp != nil || slices.ContainsFunc(r.OwnerReferences, f.former)
			}
		}
		return true
	})
}

// ends reports whether the objects of a template are deleted with the set: none is known to data.
func (f evidence) ends(name string) bool {
	known := false
	for key, object := range f.Objects {
		known = known || object.Labels[v1.ObjectTemplateLabel] == name && key.Kind == "Secret" && f.isKnown(object)
	}
	return f.mayEnd(name) && !known
}

// mayEnd reports whether a template has its objects be deleted with the set, if that harms no data.
func (f evidence) mayEnd(name string) bool {
	return slices.ContainsFunc(f.Set.Spec.ObjectTemplates, func(t v1.ObjectTemplate) bool {
		return t.Name == name && t.Retention != nil && t.Retention.WhenDeleted == v1.DeleteObjectRetentionPolicyType
	})
}

// endsAs reports whether an object goes with the set exactly if its template says so. What it belongs to may
// have to be given back to the set, which changes nothing about the object.
func (f evidence) endsAs(object *Object, template string) bool {
	at := slices.IndexFunc(object.OwnerReferences, isAnchorRef)
	if at < 0 {
		return !f.ends(template)
	}
	return f.ends(template) && isOwnedBy(object.OwnerReferences, object.OwnerReferences[at].UID, object.OwnerReferences) && !f.isLoose(object)
}

// appliedAs reports whether an object was written as its template says now of its end, whoever has taken its
// owners from it since.
func (f evidence) appliedAs(object *Object, template string) bool {
	return strings.HasSuffix(object.Annotations[v1.ObjectInputsAnnotation], ".objects") == f.ends(template)
}

// anchored: an object is made to belong to what goes with the set exactly if its template says so, and is
// not made before there is that; what objects of removed members belong to follows their templates.
func (j *judged) anchored() {
	wanted := slices.ContainsFunc(j.Set.Spec.ObjectTemplates, func(t v1.ObjectTemplate) bool { return j.mayEnd(t.Name) })
	made := planned[action.CreateAnchor](j)
	for _, act := range made {
		a := act.Anchor
		if !wanted || j.revisions[a.Name] != nil || len(a.OwnerReferences) != 1 || a.OwnerReferences[0].UID != j.Set.UID ||
			a.OwnerReferences[0].Controller != nil || a.Labels["app"] != "" {
			j.broke("anchor", "%s with owners %v and labels %v; it is wanted: %t, and there is %v", act, a.OwnerReferences, a.Labels, wanted,
				j.revisions[a.Name])
		}
	}
	own := planned[action.OwnAnchor](j)
	if lacks := wanted && j.owner() == nil; lacks != (len(made)+len(own) == 1) && j.undisturbed() && j.Set.Annotations == nil {
		j.broke("anchor", "something goes with the set: %t, is wanted: %t, and the plan has %v %v", j.owner() != nil, wanted, made, own)
	}
	for _, act := range planned[action.CreateObject](j) {
		j.ownedAs(act, act.Template, act.Object.GetOwnerReferences())
	}
	for _, act := range planned[action.ApplyObject](j) {
		j.ownedAs(act, act.Template, act.Object.GetOwnerReferences())
	}
	j.released()
}

// ownedAs checks what an object is written to belong to.
func (j *judged) ownedAs(act action.Action, template string, owners []metav1.OwnerReference) {
	owner := j.owner()
	switch ends := j.ends(template); {
	case ends && owner == nil:
		j.broke("object owners", "%s, and there is nothing that goes with the set", act)
	case ends && (len(owners) != 1 || owners[0].UID != owner.UID || !isAnchorRef(owners[0]) || owners[0].Controller != nil):
		j.broke("object owners", "%s belongs to %v, want revision %s", act, owners, owner.Name)
	case !ends && len(owners) > 0:
		j.broke("object owners", "%s belongs to %v, and is to stay when the set is deleted", act, owners)
	}
}

// released checks what becomes of the owners of objects that nothing else is written to.
func (j *judged) released() {
	got := map[string][]metav1.OwnerReference{}
	for _, act := range planned[action.SetObjectOwners](j) {
		got[act.Kind.Kind+"/"+act.At.Name] = act.Owners
	}
	for key, object := range j.Objects {
		name := textOf(key)
		due, free := j.dueOwner(key, object)
		owners, set := got[name]
		switch {
		case set && !free:
			j.broke("object released", "the owners of %s become %v, and that is not to be judged now", name, owners)
		case set && !isOwnedBy(owners, due, object.OwnerReferences):
			j.broke("object released", "the owners of %s are %v and become %v, want %q", name, object.OwnerReferences, owners, due)
		case !set && free && j.undisturbed() && !isOwnedBy(object.OwnerReferences, due, object.OwnerReferences):
			j.broke("object released", "%s belongs to %v, want %q", name, object.OwnerReferences, due)
		}
	}
}

// dueOwner is what an object of a removed member is to belong to, empty if it is to stay, and false if it
// is not one for which that is seen to.
func (j *judged) dueOwner(key identity.ObjectKey, object *Object) (uid types.UID, free bool) {
	template := object.Labels[v1.ObjectTemplateLabel]
	fate, _ := j.becomes(key, object)
	ordinal, err := strconv.Atoi(object.Labels[v1.ObjectOrdinalLabel])
	of := err == nil &&
		slices.ContainsFunc(j.dueObjects(ordinal), func(d dueObject) bool { return d.key == key && d.template == template && !d.set })
	others := slices.ContainsFunc(object.OwnerReferences,
		func(ref metav1.OwnerReference) bool { return ref.Controller != nil && *ref.Controller || j.former(ref) })
	wanted := slices.ContainsFunc(j.everyObject(), func(d dueObject) bool { return d.key == key })
	if !of || others || wanted || j.wanted(ordinal) || (fate != noFate && fate != waits) || !j.knows(key) || object.DeletionTimestamp != nil ||
		j.isLoose(object) || object.Annotations[ownerNote] != "web/"+string(j.Set.UID) {
		return "", false
	}
	switch owner := j.owner(); {
	case !j.ends(template):
		return "", true
	case owner == nil:
		return "", false
	default:
		return owner.UID, true
	}
}

// isOwnedBy reports whether owners have one that goes with the set, and no other, beside those that were
// there; none if it is empty.
func isOwnedBy(owners []metav1.OwnerReference, due types.UID, before []metav1.OwnerReference) bool {
	anchors, rest := 0, 0
	for _, ref := range owners {
		switch {
		case !isAnchorRef(ref):
			rest++
		case ref.UID == due:
			anchors++
		default:
			return false
		}
	}
	for _, ref := range before {
		if !isAnchorRef(ref) {
			rest--
		}
	}
	return rest == 0 && anchors == min(len(due), 1)
}
