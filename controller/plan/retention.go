// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	v1 "statefulset.dev/api/apps/v1"
	"statefulset.dev/controller/plan/action"
	"statefulset.dev/identity"
)

// retiredObject is an object that is deleted at some time, because its member is not wanted and has no
// pod, or because its template was removed; or one that was to be, and is to stay.
type retiredObject struct {
	template string
	// removed is when the template was removed, zero if the set has it. Pods of revision do not use
	// the object then.
	removed  time.Time
	revision string
	kind     schema.GroupVersionKind
	ordinal  int
	found    *Object
	// since is when the object was found not to be needed, as it says, zero if that is yet to be noted.
	// due is when it may be deleted for that.
	since  time.Time
	due    time.Time
	proven bool
	// unlisted is true if the status does not tell of the template yet, so that no date counts.
	unlisted bool
}

func (r retiredObject) compare(other retiredObject) int {
	return cmp.Or(cmp.Compare(other.ordinal, r.ordinal), strings.Compare(r.kind.String(), other.kind.String()),
		strings.Compare(r.found.Name, other.found.Name))
}

// findRetired finds the objects that are deleted at some time, those of the highest ordinal first, and
// those that are dated for it and are to stay. The revisions are those of the set.
func (o *supportingObjects) findRetired(current, update string) {
	o.currentRevision, o.updateRevision = current, update
	o.findRemoved()
	for key, object := range o.world.Objects {
		if !o.isJudged(key, object) {
			continue
		}
		r, retires := o.retiring(key, object)
		if claim := o.claimKnowing(object); retires && claim != "" {
			o.spare(r.template, fmt.Sprintf("%s is kept %s", key, asLongAs(claim)))
			retires = false
		}
		switch {
		case retires && r.unlisted && isDated(object):
			// Nobody knows what has become of the member since it was dated.
			o.returning = append(o.returning, r)
		case retires:
			o.retired = append(o.retired, r)
		case isDated(object) && (o.isOwn(object) || o.needsObject(key)):
			r = retiredObject{template: object.Labels[v1.ObjectTemplateLabel], kind: o.versionOf(key), ordinal: ordinalOf(object), found: object}
			o.returning = append(o.returning, r)
		}
	}
	slices.SortFunc(o.retired, retiredObject.compare)
	slices.SortFunc(o.returning, retiredObject.compare)
}

// spare notes why an object that its template would have deleted stays. Of several the first in the
// alphabet is told.
func (o *supportingObjects) spare(template, why string) {
	if o.spared == nil {
		o.spared = map[string]string{}
	}
	if first := o.spared[template]; first == "" || why < first {
		o.spared[template] = why
	}
}

// isJudged reports whether it can be said of an object that it goes or stays: all of its kind are known,
// so that what is seen of it is not old, and it is the set's, or was that of an earlier one, and nobody
// else's.
func (o *supportingObjects) isJudged(key identity.ObjectKey, object *Object) bool {
	known := o.world.Kinds[key.GroupKind()].Known && o.versionOf(key).Kind != ""
	return known && (o.isOwn(object) || o.isInherited(object)) && object.DeletionTimestamp == nil && !o.isTakenOver(object)
}

// retiring is an object as one that is deleted at some time, and false if it is none: of this very set,
// of a template that asks for it now, and of a member that is not wanted and has no pod, whoever's.
func (o *supportingObjects) retiring(key identity.ObjectKey, object *Object) (r retiredObject, retires bool) {
	if removed := o.removedOf(key, object); removed != nil {
		return o.retiringWithTemplate(key, object, *removed)
	}
	of := o.templateOf(key, object)
	if of == nil || !o.isOwn(object) {
		return r, false
	}
	ordinal := ordinalOf(object)
	delay, deletes := of.Template().DeletesScaled()
	if !deletes || o.roster.Contains(ordinal) || o.podNamed(identity.PodName(o.world.Set.Name, ordinal)) != nil || o.needsObject(key) {
		return r, false
	}
	retired := retirementOf(object)
	r = retiredObject{template: of.Template().Name, kind: of.Kind(), ordinal: ordinal, found: object, since: retired.since,
		proven: retired.proven, unlisted: !o.listed(*of)}
	r.due = r.since.Add(delay)
	return r, true
}

// templateOf is the template that an object was made from and has the name of, for a member, nil if
// there is none.
func (o *supportingObjects) templateOf(key identity.ObjectKey, object *Object) *identity.Object {
	ordinal, name := ordinalOf(object), object.Labels[v1.ObjectTemplateLabel]
	at := slices.IndexFunc(o.templates, func(t identity.Object) bool { return t.Template().Name == name && !t.ForSet() })
	if ordinal < 0 || at < 0 || o.templates[at].Key(ordinal) != key {
		return nil
	}
	return &o.templates[at]
}

// ordinalOf is that of the member whose an object says that it is, below 0 if it does not say it in
// the way that a set does.
func ordinalOf(object *Object) int {
	label := object.Labels[v1.ObjectOrdinalLabel]
	ordinal, err := strconv.ParseInt(label, 10, 32)
	if err != nil || ordinal < 0 || strconv.FormatInt(ordinal, 10) != label {
		return setOrdinal
	}
	return int(ordinal)
}

// versionOf is the kind of an object in the version of a template, or of one that was removed.
func (o *supportingObjects) versionOf(key identity.ObjectKey) schema.GroupVersionKind {
	for _, template := range o.templates {
		if kind := template.Kind(); kind.Group == key.Group && kind.Kind == key.Kind {
			return kind
		}
	}
	for _, removed := range o.removed {
		if kind := identity.RemovedKind(removed); kind.Group == key.Group && kind.Kind == key.Kind {
			return kind
		}
	}
	return schema.GroupVersionKind{}
}

// listed reports whether the status tells of a template, so that its objects have been looked after
// without a break. It does not of one that has only come back, nor where the store was lost.
func (o *supportingObjects) listed(template identity.Object) bool {
	return slices.ContainsFunc(o.world.Set.Status.ObjectTemplates, func(s v1.ObjectTemplateStatus) bool {
		return !identity.IsRemoved(s) && s.Name == template.Template().Name && s.Kind == template.Kind().GroupKind().String() &&
			s.ObjectName == template.Pattern()
	})
}

// startsAfresh reports whether no object of a template is known to have a date that was put on it before
// the status told of the template.
func (o *supportingObjects) startsAfresh(template identity.Object) bool {
	return o.world.Kinds[template.Kind().GroupKind()].Known &&
		!slices.ContainsFunc(o.returning, func(r retiredObject) bool { return r.template == template.Template().Name })
}

// needsObject reports whether a template has the name of an object for the set, or for a wanted member:
// whoever it says that it was made for. The name of a member's object contains that of its member.
func (o *supportingObjects) needsObject(key identity.ObjectKey) bool {
	ordinals := identity.MemberOrdinals(key.Name, o.world.Set.Name)
	return slices.ContainsFunc(o.templates, func(t identity.Object) bool {
		switch {
		case t.Kind().Group != key.Group || t.Kind().Kind != key.Kind:
			return false
		case t.ForSet():
			return t.Key(setOrdinal) == key
		}
		return slices.ContainsFunc(ordinals, func(ordinal int) bool { return o.roster.Contains(ordinal) && t.Key(ordinal) == key })
	})
}

// isOwn reports whether an object says that it is this very set's.
func (o *supportingObjects) isOwn(object *Object) bool {
	return object.Annotations[v1.OwnerAnnotation] == identity.OwnerMark(o.world.Set)
}

// isInherited reports whether an object says that it is that of an earlier set of this name.
func (o *supportingObjects) isInherited(object *Object) bool {
	name, _, marked := strings.Cut(object.Annotations[v1.OwnerAnnotation], "/")
	return marked && name == o.world.Set.Name && !o.isOwn(object)
}

// isTakenOver reports whether somebody else controls an object, or is about to delete it.
func (o *supportingObjects) isTakenOver(object *Object) bool {
	return o.ofEarlierSet(object) || slices.ContainsFunc(object.OwnerReferences,
		func(ref metav1.OwnerReference) bool { return isController(ref) && ref.UID != o.world.Set.UID })
}

// returns reports whether an object that is to be there says that it is to be deleted.
func (o *supportingObjects) returns(object *Object) bool {
	return isDated(object) && !o.isTakenOver(object)
}

func isDated(object *Object) bool {
	_, is := object.Annotations[v1.RetiredAtAnnotation]
	return is
}

// retireObjects deletes the objects of members, and of templates, that were removed long enough ago, where
// the template asks for it. As of claims, since when they are stands on the objects themselves, also if
// nothing is waited for, and one is deleted only as it was read with that: whoever brings the member, or
// the template, back takes it off before, so that a controller that does not know of it yet deletes
// nothing.
func retireObjects(f *facts, d *draft) verdict {
	for _, r := range f.supporting.returning {
		d.forObject(action.MarkObject{Ordinal: r.ordinal, Template: r.template, Kind: r.kind, At: action.Exact(r.found), As: action.ObjectKept})
	}
	deleted := 0
	for _, r := range f.supporting.retired {
		switch {
		case r.unlisted:
			d.again(time.Second) // the status tells of it then
		case r.since.IsZero():
			// Up to the next second: rather an object stays for longer than the set says.
			since := f.world.Now.Add(time.Second - 1).Truncate(time.Second).UTC()
			if since.Before(r.removed) { // our clock is behind
				since = r.removed.UTC()
			}
			d.forObject(action.MarkObject{
				Ordinal: r.ordinal, Template: r.template, Kind: r.kind, At: action.Exact(r.found), As: action.ObjectRetired, Retired: since})
		case f.world.Now.Before(r.due):
			d.again(r.due.Sub(f.world.Now))
		case r.proven && deleted < mostReclaimed:
			deleted++
			d.aside = append(d.aside, action.Chain{action.DeleteObject{
				Ordinal: r.ordinal, Template: r.template, Unused: r.revision, Kind: r.kind, At: action.Exact(r.found), Retired: r.since, Due: r.due}})
		}
	}
	return proceed
}
