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
	"statefulset.dev/identity"
)

// removedOf is what the status tells of the template that an object was made from, if the set has that
// no more, and no other one has the name of the object; nil otherwise.
func (f *facts) removedOf(key identity.ObjectKey, object *Object) *v1.ObjectTemplateStatus {
	ordinal := ordinalOf(object)
	_, ofMember := object.Labels[v1.ObjectOrdinalLabel]
	if f.badObjects != nil || ofMember != (ordinal != setOrdinal) {
		return nil
	}
	kind := key.GroupKind().String()
	at := slices.IndexFunc(f.removed, func(s v1.ObjectTemplateStatus) bool {
		return s.Name == object.Labels[v1.ObjectTemplateLabel] && s.Kind == kind
	})
	if at < 0 || f.describesFor(key, ordinal) || f.needsObject(key) {
		return nil
	}
	return &f.removed[at]
}

// describesFor reports whether a template has the name of an object, for a member, wanted or not, or for
// the set.
func (f *facts) describesFor(key identity.ObjectKey, ordinal int) bool {
	return slices.ContainsFunc(f.objects, func(o identity.Object) bool {
		return (o.ForSet() || ordinal != setOrdinal) && o.Kind().GroupKind() == key.GroupKind() && o.Key(ordinal) == key
	})
}

// retiringWithTemplate is an object of a removed template as one that is deleted at some time, and false
// if something may use it, or come back to it. A date of before the removal does not count.
func (f *facts) retiringWithTemplate(key identity.ObjectKey, object *Object, removed v1.ObjectTemplateStatus) (r retiredObject, retires bool) {
	delay, deletes := removed.Retention.DeletesScaled()
	if !deletes || !f.isOwn(object) || f.keptFor(object, removed) != "" {
		return r, false
	}
	retired := retirementOf(object)
	r = retiredObject{template: removed.Name, removed: removed.RemovedAt.Time, revision: f.update.name, kind: f.versionOf(key), ordinal: ordinalOf(object), found: object, since: retired.since, proven: retired.proven}
	if r.since.Before(r.removed) {
		r.since = time.Time{}
	}
	r.due = r.since.Add(delay)
	return r, true
}

// keptFor says what an object of a removed template is kept for as yet, empty if for nothing: pods that
// are not of the present revision may use it, that may name it, and claims may hold what was written with
// its keys.
func (f *facts) keptFor(object *Object, removed v1.ObjectTemplateStatus) string {
	switch claim, pod := f.claimKnowing(object), f.outdatedUser(object); {
	case f.current.name != f.update.name:
		return "until all members have revision " + f.update.name
	case pod != "":
		return "as long as pod " + pod + " has another revision than " + f.update.name
	case claim != "":
		return asLongAs(claim)
	case f.names(removed.ObjectName):
		return "as long as spec.template names " + removed.ObjectName
	default:
		return ""
	}
}

// awaitsCompletion reports whether objects of removed templates were kept for an update that the status says
// now is complete, so that the next look goes on with them.
func (f *facts) awaitsCompletion(status *v1.StatefulSetStatus) bool {
	return f.Set.DeletionTimestamp == nil && f.current.name != f.update.name && status.CurrentRevision == status.UpdateRevision &&
		slices.ContainsFunc(identity.RemovedTemplates(status), func(s v1.ObjectTemplateStatus) bool {
			return s.Present > 0 && f.Kinds[identity.RemovedKind(s).GroupKind()].Known
		})
}

// outdatedUser is a pod that may use an object, the one of its member, or any if it is the set's, and that
// has not the present revision; empty if there is none.
func (f *facts) outdatedUser(object *Object) (first string) {
	users := f.Pods
	if ordinal := ordinalOf(object); ordinal != setOrdinal {
		users = nil
		if pod := f.podNamed(identity.PodName(f.Set.Name, ordinal)); pod != nil {
			users = []*corev1.Pod{pod}
		}
	}
	for _, pod := range users {
		if pod.Labels[identity.RevisionLabel] != f.update.name && (first == "" || pod.Name < first) {
			first = pod.Name
		}
	}
	return first
}

// findRemoved reads what the status tells of removed templates.
func (f *facts) findRemoved() {
	if f.removed = identity.RemovedTemplates(&f.Set.Status); len(f.removed) == 0 {
		return
	}
	text, _ := json.Marshal(f.Set.Spec.Template) // which was read from there
	f.templateText = string(text)
}

// names reports whether the pod template has a text with the name of objects as it is written in their
// template. Members could not be created any more without these.
func (f *facts) names(pattern string) bool {
	ofName := func(b byte) bool { return b == '-' || b >= 'a' && b <= 'z' || b >= '0' && b <= '9' }
	for rest := f.templateText; ; {
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

// removedTemplates tell, by removed template, how many objects of it are left, and what of them is to be
// deleted when; nothing of those without any. Of a kind that is not known they are what they were.
func (f *facts) removedTemplates() (all []v1.ObjectTemplateStatus) {
	for _, status := range f.removed {
		kind := identity.RemovedKind(status)
		if known := f.Kinds[kind.GroupKind()]; !known.Known {
			if known.Refused != "" {
				status.Message = status.Kind + " cannot be watched: " + foreignText(known.Refused)
			}
			all = append(all, status)
			continue
		}
		status.Present, status.Retired, status.DueTime, status.Message = 0, 0, nil, ""
		var kept []string
		for key, object := range f.Objects {
			of := f.removedOf(key, object)
			if of == nil || of.Name != status.Name || of.Kind != status.Kind || !f.isOwn(object) || f.isTakenOver(object) {
				continue
			}
			status.Present++
			if why := f.keptFor(object, status); why != "" {
				kept = append(kept, fmt.Sprintf("%s is kept %s", key, why))
			}
		}
		if status.Present == 0 {
			continue
		}
		if len(kept) > 0 {
			status.Message = slices.Min(kept)
		}
		f.countRetired(&status)
		all = append(all, status)
	}
	return all
}
