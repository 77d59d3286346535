// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	v1 "statefulset.dev/api/apps/v1"
	"statefulset.dev/controller/plan/words"
	"statefulset.dev/identity"
)

// removedOf is what the status records about the removed template from which an object was created.
// It is nil if the set still has the template, or if another template uses the name of the object.
func (o *supportingObjects) removedOf(key identity.ObjectKey, object *Object) *v1.ObjectTemplateStatus {
	ordinal := ordinalOf(object)
	_, ofMember := object.Labels[v1.ObjectOrdinalLabel]
	if o.unreadable != nil || ofMember != (ordinal != setOrdinal) {
		return nil
	}
	kind := key.GroupKind().String()
	at := slices.IndexFunc(o.removed, func(s v1.ObjectTemplateStatus) bool {
		return s.Name == object.Labels[v1.ObjectTemplateLabel] && s.Kind == kind
	})
	if at < 0 || o.describesFor(key, ordinal) || o.needsObject(key) {
		return nil
	}
	return &o.removed[at]
}

// describesFor reports whether a template uses the name of an object, for a member, desired or not,
// or for the set.
func (o *supportingObjects) describesFor(key identity.ObjectKey, ordinal int) bool {
	return slices.ContainsFunc(o.templates, func(t identity.Object) bool {
		return (t.ForSet() || ordinal != setOrdinal) && t.Kind().GroupKind() == key.GroupKind() && t.Key(ordinal) == key
	})
}

// retiringWithTemplate is an object of a removed template in the form of one that is deleted after
// a delay. It is false if something may still use the object, or use it again. A date from before
// the removal does not count.
func (o *supportingObjects) retiringWithTemplate(key identity.ObjectKey, object *Object,
	removed v1.ObjectTemplateStatus) (r retiredObject, retires bool) {
	delay, deletes := removed.Retention.DeletesScaled()
	if !deletes || !o.isOwn(object) || o.keptFor(object, removed) != "" {
		return r, false
	}
	retired := retirementOf(object)
	r = retiredObject{template: removed.Name, removed: removed.RemovedAt.Time, revision: o.updateRevision, kind: o.versionOf(key),
		ordinal: ordinalOf(object), found: object, since: retired.since, proven: retired.proven}
	if r.since.Before(r.removed) {
		r.since = time.Time{}
	}
	r.due = r.since.Add(delay)
	return r, true
}

// keptFor says why an object of a removed template is still kept, empty if there is no reason: pods
// that do not run the update revision may use it, the pod template may name it, and claims may hold
// data that depends on its keys.
func (o *supportingObjects) keptFor(object *Object, removed v1.ObjectTemplateStatus) string {
	switch claim, pod := o.claimRecording(object), o.outdatedUser(object); {
	case o.currentRevision != o.updateRevision:
		return "until all members have revision " + o.updateRevision
	case pod != "":
		return "as long as pod " + pod + " has another revision than " + o.updateRevision
	case claim != "":
		return asLongAs(claim)
	case o.names(removed.ObjectName):
		return "as long as spec.template names " + removed.ObjectName
	default:
		return ""
	}
}

// awaitsCompletion reports whether objects of removed templates were kept for an update that the
// status now reports as complete, so that the next sync continues with them.
func (o *supportingObjects) awaitsCompletion(status *v1.StatefulSetStatus) bool {
	return o.world.Set.DeletionTimestamp == nil && o.currentRevision != o.updateRevision && status.CurrentRevision == status.UpdateRevision &&
		slices.ContainsFunc(identity.RemovedTemplates(status), func(s v1.ObjectTemplateStatus) bool {
			return s.Present > 0 && o.world.Kinds[identity.RemovedKind(s).GroupKind()].Known
		})
}

// outdatedUser is a pod that may use an object and does not run the update revision, empty if there
// is none. For an object of a member that is the pod of the member, for an object of the set any
// pod.
func (o *supportingObjects) outdatedUser(object *Object) (first string) {
	users := o.world.Pods
	if ordinal := ordinalOf(object); ordinal != setOrdinal {
		users = nil
		if pod := o.podNamed(identity.PodName(o.world.Set.Name, ordinal)); pod != nil {
			users = []*corev1.Pod{pod}
		}
	}
	for _, pod := range users {
		if pod.Labels[identity.RevisionLabel] != o.updateRevision && (first == "" || pod.Name < first) {
			first = pod.Name
		}
	}
	return first
}

// findRemoved reads what the status records about removed templates.
func (o *supportingObjects) findRemoved() {
	if o.removed = identity.RemovedTemplates(&o.world.Set.Status); len(o.removed) == 0 {
		return
	}
	text, _ := json.Marshal(o.world.Set.Spec.Template) // a template from the API can always be encoded
	o.podTemplate = string(text)
}

// names reports whether the pod template contains the name of objects in the form of their
// template. Without these objects, members could no longer be created.
func (o *supportingObjects) names(pattern string) bool {
	ofName := func(b byte) bool { return b == '-' || b >= 'a' && b <= 'z' || b >= '0' && b <= '9' }
	for rest := o.podTemplate; ; {
		at := strings.Index(rest, pattern)
		if at < 0 {
			return false
		}
		end := at + len(pattern)
		if begins, ends := at == 0 || !ofName(rest[at-1]), end == len(rest) || !ofName(rest[end]); begins && ends {
			return true
		}
		rest = rest[end:]
	}
}

// removedTemplates report, by removed template, how many of its objects are left, and when they are
// deleted. Templates without objects are left out. For a kind that is not known, the entry stays
// unchanged.
func (o *supportingObjects) removedTemplates() (all []v1.ObjectTemplateStatus) {
	for _, status := range o.removed {
		kind := identity.RemovedKind(status)
		if known := o.world.Kinds[kind.GroupKind()]; !known.Known {
			if known.Refused != "" {
				status.Message = status.Kind + " cannot be watched: " + words.SanitizeText(known.Refused)
			}
			all = append(all, status)
			continue
		}
		status.Present, status.Retired, status.DueTime, status.Message = 0, 0, nil, ""
		var kept []string
		for key, object := range o.world.Objects {
			of := o.removedOf(key, object)
			if of == nil || of.Name != status.Name || of.Kind != status.Kind || !o.isOwn(object) || o.isTakenOver(object) {
				continue
			}
			status.Present++
			if why := o.keptFor(object, status); why != "" {
				kept = append(kept, fmt.Sprintf("%s is kept %s", key, why))
			}
		}
		if status.Present == 0 {
			continue
		}
		if len(kept) > 0 {
			status.Message = slices.Min(kept)
		}
		o.countRetired(&status)
		all = append(all, status)
	}
	return all
}
