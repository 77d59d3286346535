// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	v1 "statefulset.dev/api/apps/v1"
	"statefulset.dev/identity"
)

// leftOf is what the status tells of the template of an object, if the set has had it and has no other
// one for the object; nil otherwise.
func (f evidence) leftOf(key identity.ObjectKey, object *Object) *v1.ObjectTemplateStatus {
	label, ofMember := object.Labels[v1.ObjectOrdinalLabel]
	ordinal, err := strconv.Atoi(label)
	if ofMember && (err != nil || ordinal < 0) || object.Annotations[ownerNote] != "web/"+string(f.Set.UID) {
		return nil
	}
	described := f.everyObject()
	for _, due := range f.dueObjects(ordinal) {
		if due.set || ofMember {
			described = append(described, due)
		}
	}
	if slices.ContainsFunc(described, func(d dueObject) bool { return d.key == key }) {
		return nil
	}
	for i, s := range f.Set.Status.ObjectTemplates {
		if s.RemovedAt != nil && s.Kind == key.Kind && s.Name == object.Labels[v1.ObjectTemplateLabel] {
			return &f.Set.Status.ObjectTemplates[i]
		}
	}
	return nil
}

// becomes is what is to become of an object, and when: with its template, if that was removed, or otherwise
// with its member.
func (j *judged) becomes(key identity.ObjectKey, object *Object) (fateOf, time.Time) {
	removed := j.leftOf(key, object)
	if removed == nil || !j.knows(key) || object.DeletionTimestamp != nil || j.isOthers(object) {
		return j.objectFate(key, object)
	}
	note, dated := object.Annotations[retiredNote]
	noteTime, err := time.Parse(time.RFC3339, note)
	since, shown := begun(noteTime, object)
	var after time.Duration
	if seconds := removed.Retention.ScaledAfterSeconds; seconds != nil {
		after = time.Duration(*seconds) * time.Second
	}
	switch due := since.Add(after); {
	case j.isKept(object, removed) && dated:
		return returns, time.Time{}
	case j.isKept(object, removed):
		return noFate, time.Time{}
	case err != nil, since.Before(removed.RemovedAt.Time):
		return retires, time.Time{}
	case !shown:
		return doubted, due
	case j.Now.Before(due):
		return waits, due
	default:
		return goes, due
	}
}

// isKept reports whether something may need an object of a template that was removed: an update is under
// way, a pod that is not up to date, data that was written with it, or the template of pods.
func (j *judged) isKept(object *Object, removed *v1.ObjectTemplateStatus) bool {
	status := j.plan.Status
	if j.currentRevision(status.UpdateRevision) != status.UpdateRevision {
		return true
	}
	for name, pod := range j.pods {
		label, ofMember := object.Labels[v1.ObjectOrdinalLabel]
		if (!ofMember || name == "web-"+label) && pod.Labels["controller-revision-hash"] != status.UpdateRevision {
			return true
		}
	}
	return j.isKnown(object) || slices.ContainsFunc(j.Set.Spec.Template.Spec.Containers[0].Args,
		func(arg string) bool { return strings.HasSuffix(arg, "="+removed.ObjectName) })
}

// toldRemoved: the status tells of each removed template of which there are objects, how many that are.
func (j *judged) toldRemoved() {
	want, got := map[string]int{}, map[string]int{}
	for _, s := range j.Set.Status.ObjectTemplates {
		if s.RemovedAt != nil && !j.knows(identity.ObjectKey{Kind: s.Kind}) {
			want[s.Name+" "+s.Kind] = int(s.Present)
		}
	}
	for key, object := range j.Objects {
		if removed := j.leftOf(key, object); removed != nil && !j.isOthers(object) && j.knows(key) {
			want[removed.Name+" "+removed.Kind]++
		}
	}
	for _, s := range j.plan.Status.ObjectTemplates {
		if s.RemovedAt != nil {
			got[s.Name+" "+s.Kind] = int(s.Present)
		}
	}
	if !maps.Equal(got, want) {
		j.broke("told removed", "the status tells of the removed templates %v, want %v", got, want)
	}
}
