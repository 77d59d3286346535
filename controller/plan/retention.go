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

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	v1 "statefulset.dev/api/apps/v1"
	"statefulset.dev/controller/plan/action"
	"statefulset.dev/controller/plan/words"
	"statefulset.dev/identity"
)

// retiredObject is an object that is deleted after a delay, because its member is not desired and
// has no pod, or because its template was removed. It is also an object that was marked for
// deletion but stays.
type retiredObject struct {
	template string
	// removed is when the template was removed, zero if the set still has it. If it was removed,
	// pods of revision do not use the object.
	removed  time.Time
	revision string
	kind     schema.GroupVersionKind
	ordinal  int
	found    *Object
	// since is when the object was found not to be needed, according to its annotation, zero if
	// that has yet to be recorded. due is the time from which it may be deleted.
	since  time.Time
	due    time.Time
	proven bool
	// unlisted is true if the status does not list the template yet, so that no date counts.
	unlisted bool
}

func (r retiredObject) compare(other retiredObject) int {
	return cmp.Or(cmp.Compare(other.ordinal, r.ordinal), strings.Compare(r.kind.String(), other.kind.String()),
		strings.Compare(r.found.Name, other.found.Name))
}

// findRetired finds the objects that are deleted after a delay, those of the highest ordinal first,
// and objects that carry such a date but stay. The arguments are the revisions of the set.
func (o *supportingObjects) findRetired(current, update string) {
	o.currentRevision, o.updateRevision = current, update
	o.findRemoved()
	for key, object := range o.world.Objects {
		if !o.isJudged(key, object) {
			continue
		}
		r, retires := o.retiring(key, object)
		if claim := o.claimRecording(object); retires && claim != "" {
			o.recordKept(r.template, fmt.Sprintf("%s is kept %s", key, asLongAs(claim)))
			retires = false
		}
		switch {
		case retires && r.unlisted && isDated(object):
			// What has happened to the member since that date is not known.
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

// recordKept records why an object is kept although its template would have it deleted. Of several
// reasons, it records the first in alphabetical order.
func (o *supportingObjects) recordKept(template, why string) {
	if o.keptBecause == nil {
		o.keptBecause = map[string]string{}
	}
	if first := o.keptBecause[template]; first == "" || why < first {
		o.keptBecause[template] = why
	}
}

// isJudged reports whether the controller can decide if an object stays: all objects of its kind
// are known, so that the cached object is not old, and it belongs only to the set or to an earlier
// set of the name.
func (o *supportingObjects) isJudged(key identity.ObjectKey, object *Object) bool {
	known := o.world.Kinds[key.GroupKind()].Known && o.versionOf(key).Kind != ""
	return known && (o.isOwn(object) || o.isInherited(object)) && object.DeletionTimestamp == nil && !o.isTakenOver(object)
}

// retiring is an object in the form of one that is deleted after a delay. It is false if the object
// is not deleted: it must belong to this very set, to a template that requests the deletion now,
// and to a member that is not desired and whose name no pod has.
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

// templateOf is the template from which an object was created for a member, nil if there is none or
// if the name of the object does not match.
func (o *supportingObjects) templateOf(key identity.ObjectKey, object *Object) *identity.Object {
	ordinal, name := ordinalOf(object), object.Labels[v1.ObjectTemplateLabel]
	at := slices.IndexFunc(o.templates, func(t identity.Object) bool { return t.Template().Name == name && !t.ForSet() })
	if ordinal < 0 || at < 0 || o.templates[at].Key(ordinal) != key {
		return nil
	}
	return &o.templates[at]
}

// ordinalOf is the ordinal in the label of an object, below 0 if the label is missing or not in the
// form that a set writes.
func ordinalOf(object *Object) int {
	label := object.Labels[v1.ObjectOrdinalLabel]
	ordinal, err := strconv.ParseInt(label, 10, 32)
	if err != nil || ordinal < 0 || strconv.FormatInt(ordinal, 10) != label {
		return setOrdinal
	}
	return int(ordinal)
}

// versionOf is the kind of an object in the API version of a template, or of a removed template.
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

// listed reports whether the status lists a template, so that its objects were maintained without a
// break. It does not list a template that has only just come back, or any template after the etcd
// store was lost.
func (o *supportingObjects) listed(template identity.Object) bool {
	return slices.ContainsFunc(o.world.Set.Status.ObjectTemplates, func(s v1.ObjectTemplateStatus) bool {
		return !identity.IsRemoved(s) && s.Name == template.Template().Name && s.Kind == template.Kind().GroupKind().String() &&
			s.ObjectName == template.Pattern()
	})
}

// startsAfresh reports whether no known object of a template has a date that was set before the
// status listed the template.
func (o *supportingObjects) startsAfresh(template identity.Object) bool {
	return o.world.Kinds[template.Kind().GroupKind()].Known &&
		!slices.ContainsFunc(o.returning, func(r retiredObject) bool { return r.template == template.Template().Name })
}

// needsObject reports whether a template uses the name of an object for the set or for a desired
// member, regardless of the member in the object's labels. The name of a member's object contains
// the name of the member.
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

// isOwn reports whether the owner annotation of an object names this very set.
func (o *supportingObjects) isOwn(object *Object) bool {
	return object.Annotations[v1.OwnerAnnotation] == identity.OwnerMark(o.world.Set)
}

// isInherited reports whether the owner annotation of an object names an earlier set of this name.
func (o *supportingObjects) isInherited(object *Object) bool {
	name, _, marked := strings.Cut(object.Annotations[v1.OwnerAnnotation], "/")
	return marked && name == o.world.Set.Name && !o.isOwn(object)
}

// isTakenOver reports whether another owner controls an object, or whether the object is about to
// be deleted with an earlier set.
func (o *supportingObjects) isTakenOver(object *Object) bool {
	return o.ofEarlierSet(object) || slices.ContainsFunc(object.OwnerReferences,
		func(ref metav1.OwnerReference) bool { return isController(ref) && ref.UID != o.world.Set.UID })
}

// returns reports whether an object that must exist is marked for deletion.
func (o *supportingObjects) returns(object *Object) bool {
	return isDated(object) && !o.isTakenOver(object)
}

func isDated(object *Object) bool {
	_, is := object.Annotations[v1.RetiredAtAnnotation]
	return is
}

// retireObjects deletes the objects of members and templates that were removed long enough ago, if
// the template requests that. As with claims, the objects themselves record since when, even
// without a delay, and an object is deleted only in the version in which the record was read.
// Before a member or a template comes back, that record is removed, so a controller that does not
// know about that yet deletes nothing.
func retireObjects(f *facts, d *draft) verdict {
	for _, r := range f.supporting.returning {
		d.addForObject(action.MarkObject{
			Ordinal: r.ordinal, Template: r.template, Kind: r.kind, At: action.Exact(r.found), As: action.ObjectKept})
	}
	deleted := 0
	for _, r := range f.supporting.retired {
		switch {
		case r.unlisted:
			d.requeueAfter(time.Second) // the status lists it then
		case r.since.IsZero():
			// Rounded up, so that an object is never kept for less time than the template says.
			since := f.world.Now.Add(time.Second - 1).Truncate(time.Second).UTC()
			if since.Before(r.removed) { // our clock is behind
				since = r.removed.UTC()
			}
			d.addForObject(action.MarkObject{
				Ordinal: r.ordinal, Template: r.template, Kind: r.kind, At: action.Exact(r.found), As: action.ObjectRetired, Retired: since})
		case f.world.Now.Before(r.due):
			d.requeueAfter(r.due.Sub(f.world.Now))
		case r.proven && deleted < mostReclaimed:
			deleted++
			d.finally = append(d.finally, action.Chain{action.DeleteObject{
				Ordinal: r.ordinal, Template: r.template, Unused: r.revision, Kind: r.kind, At: action.Exact(r.found), Retired: r.since, Due: r.due}})
		}
	}
	return proceed
}

// countRetired reports how many objects of a template are deleted after a delay, and when the first
// is due.
func (o *supportingObjects) countRetired(status *v1.ObjectTemplateStatus) {
	for _, r := range o.retired {
		if r.template != status.Name || r.kind.GroupKind().String() != status.Kind || r.removed.IsZero() == identity.IsRemoved(*status) {
			continue
		}
		status.Retired++
		if due := metav1.NewTime(r.due.UTC()); !r.since.IsZero() && (status.DueTime == nil || due.Before(status.DueTime)) {
			status.DueTime = &due
		}
		if !r.since.IsZero() && !r.proven && status.Message == "" {
			status.Message = fmt.Sprintf("%s %s is kept: %s", r.kind.Kind, r.found.Name, unproven)
		}
	}
}

// reportUndeleted reports in a status the objects that are due and could not be deleted. Nothing
// waits for that, so it changes no condition.
func reportUndeleted(status v1.StatefulSetStatus, failures []Failure) v1.StatefulSetStatus {
	copied := false
	for _, failure := range failures {
		a, ok := failure.Action.(action.DeleteObject)
		at := slices.IndexFunc(status.ObjectTemplates, func(s v1.ObjectTemplateStatus) bool {
			return ok && s.Name == a.Template && s.Kind == a.Kind.GroupKind().String() && identity.IsRemoved(s) == (a.Unused != "")
		})
		if at < 0 || status.ObjectTemplates[at].Message != "" {
			continue
		}
		if !copied {
			status, copied = *status.DeepCopy(), true
		}
		status.ObjectTemplates[at].Message = fmt.Sprintf("%s %s has been due since %s, but could not be deleted: %s%s", a.Kind.Kind, a.At.Name,
			words.Timestamp(a.Due), Cause(failure.Err), remedyFor(a.Kind.GroupKind(), failure.Err))
	}
	return status
}

// reportUnreclaimed reports in a status the claims that are due and could not be deleted, which
// changes no condition either. For a member that does not fit into the list, the message is on the
// entry that is due first.
func reportUnreclaimed(status v1.StatefulSetStatus, failures []Failure) v1.StatefulSetStatus {
	copied := false
	for _, failure := range failures {
		a, ok := failure.Action.(action.DeleteClaim)
		if !ok || len(status.Reclaims) == 0 {
			continue
		}
		at, told := 0, v1.Reclaim{First: int32(a.Ordinal)} //nolint:gosec // a name has no larger one
		if listed := slices.IndexFunc(status.Reclaims, func(r v1.Reclaim) bool {
			return int(r.First) <= a.Ordinal && a.Ordinal <= r.End() && r.DueTime.Time.Equal(a.Due)
		}); listed >= 0 {
			at, told = listed, status.Reclaims[listed]
		}
		if status.Reclaims[at].Message != "" {
			continue
		}
		if !copied {
			status.Reclaims, copied = slices.Clone(status.Reclaims), true
		}
		status.Reclaims[at].Message = fmt.Sprintf("claims of %s have been due since %s, but could not be deleted: %s%s", ordinalsOf(told),
			words.Timestamp(a.Due), Cause(failure.Err), reclaimRemedy(failure.Err))
	}
	return status
}

func ordinalsOf(r v1.Reclaim) string {
	if r.End() == int(r.First) {
		return fmt.Sprintf("ordinal %d", r.First)
	}
	return fmt.Sprintf("ordinals %d-%d", r.First, r.End())
}

// reclaimRemedy says how an operator allows the controller to delete claims, empty if that is not
// what is missing.
func reclaimRemedy(err error) string {
	if !apierrors.IsForbidden(err) {
		return ""
	}
	return "; if the controller lacks the right: kubectl apply -k artifacts/reclaim"
}

// remedyFor says how an operator allows the controller to delete objects of a kind, empty if that
// is not what is missing.
func remedyFor(kind schema.GroupKind, err error) string {
	folders := map[schema.GroupKind]string{
		{Kind: "ConfigMap"}: "configmaps", {Kind: "Secret"}: "secrets", {Kind: "Service"}: "services", {Group: "batch", Kind: "Job"}: "jobs",
	}
	switch folder := folders[kind]; {
	case !apierrors.IsForbidden(err):
		return ""
	case folder != "":
		return "; if the controller lacks the right: kubectl apply -k artifacts/objects-delete/" + folder
	default:
		return "; if the controller lacks the right: label a ClusterRole that allows it " + v1.GroupName + "/aggregate-to-controller=true"
	}
}
