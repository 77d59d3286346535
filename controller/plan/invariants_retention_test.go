// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"encoding/json"
	"maps"
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

// objectFate is what is to become of an object, and when, if it is to be deleted.
func (f evidence) objectFate(key identity.ObjectKey, object *Object) (fate fateOf, due time.Time) {
	note, dated := object.Annotations[retiredNote]
	owner, _, _ := strings.Cut(object.Annotations[ownerNote], "/")
	own := object.Annotations[ownerNote] == "web/"+string(f.Set.UID)
	if !f.knows(key) || object.DeletionTimestamp != nil || owner != "web" || f.isOthers(object) {
		return noFate, due
	}
	wanted := slices.ContainsFunc(f.everyObject(), func(d dueObject) bool { return d.key == key })
	for _, template := range f.Set.Spec.ObjectTemplates {
		ordinal, err := strconv.Atoi(object.Labels[v1.ObjectOrdinalLabel])
		ofMember := err == nil && template.Scope != v1.SetObjectScope && template.Name == object.Labels[v1.ObjectTemplateLabel] &&
			slices.ContainsFunc(f.dueObjects(ordinal), func(d dueObject) bool { return d.key == key && d.template == template.Name })
		retention := template.Retention
		if !own || !ofMember || retention == nil || retention.WhenScaled != v1.DeleteObjectRetentionPolicyType || wanted || f.wanted(ordinal) ||
			f.pods[f.podName(ordinal)] != nil || f.isKnown(object) {
			continue
		}
		after := time.Duration(0)
		if retention.ScaledAfterSeconds != nil {
			after = time.Duration(*retention.ScaledAfterSeconds) * time.Second
		}
		noteTime, err := time.Parse(time.RFC3339, note)
		since, shown := begun(noteTime, object)
		switch due = since.Add(after); {
		case dated && !f.tellsOf(template):
			return returns, time.Time{}
		case !f.tellsOf(template):
			return begins, time.Time{}
		case err != nil:
			return retires, time.Time{}
		case !shown:
			return doubted, due
		case f.Now.Before(due):
			return waits, due
		default:
			return goes, due
		}
	}
	if described := f.describes(key); dated && described && (own || wanted) {
		return returns, due
	}
	return noFate, due
}

// tellsOf reports whether the status says something of a template.
func (f evidence) tellsOf(template v1.ObjectTemplate) bool {
	var written metav1.PartialObjectMetadata
	_ = json.Unmarshal(template.Object.Raw, &written)
	return slices.ContainsFunc(f.Set.Status.ObjectTemplates, func(s v1.ObjectTemplateStatus) bool {
		return s.RemovedAt == nil && s.Name == template.Name && s.Kind == written.Kind && s.ObjectName == written.Name
	})
}

// describes reports whether the set has a template of a kind, or has had one whose objects are deleted.
func (f evidence) describes(key identity.ObjectKey) bool {
	if slices.ContainsFunc(f.Set.Status.ObjectTemplates,
		func(s v1.ObjectTemplateStatus) bool { return s.RemovedAt != nil && s.Kind == key.Kind }) {
		return true
	}
	return slices.ContainsFunc(f.Set.Spec.ObjectTemplates, func(t v1.ObjectTemplate) bool {
		var written metav1.TypeMeta
		_ = json.Unmarshal(t.Object.Raw, &written)
		return schema.FromAPIVersionAndKind(written.APIVersion, written.Kind).GroupKind() == key.GroupKind()
	})
}

// retired: an object is deleted when its template asks for it, its member has been away for as long as
// it says, and it is the set's; since when is noted on it, and taken off when it is to stay. Nothing is
// created that needs it before that.
func (j *judged) retired() {
	want := map[fateOf][]string{}
	for key, object := range j.Objects {
		fate, _ := j.becomes(key, object)
		want[fate] = append(want[fate], textOf(key))
	}
	got := map[fateOf][]string{}
	for _, act := range planned[action.DeleteObject](j) {
		got[goes] = append(got[goes], act.Kind.Kind+"/"+act.At.Name)
	}
	for _, act := range planned[action.MarkObject](j) {
		as := returns
		if note := act.Note(); note != nil {
			as = retires
			at, err := time.Parse(time.RFC3339, *note)
			if removed := j.isRemoval(at); err != nil || !removed && (at.Before(j.Now) || at.Sub(j.Now) >= time.Second) {
				j.broke("object retired since", "%s is noted to be retired at %s, and it is %s", act, *note, j.Now)
			}
		}
		got[as] = append(got[as], act.Kind.Kind+"/"+act.At.Name)
	}
	for fate, rule := range map[fateOf]string{goes: "object reclaim", returns: "object returns", retires: "object retires"} {
		slices.Sort(got[fate])
		slices.Sort(want[fate])
		for _, name := range got[fate] {
			if !slices.Contains(want[fate], name) {
				j.broke(rule, "object %s, with the annotations %v, is what the plan does that about, and should not be", name,
					j.Objects[keyOf(name)].Annotations)
			}
		}
		if !slices.Equal(got[fate], want[fate]) && j.undisturbed() && len(want[fate]) <= 16 {
			j.broke(rule, "the objects %v are seen to, want %v", got[fate], want[fate])
		}
	}
	if n := len(got[goes]); n > 16 {
		j.broke("object reclaim", "%d objects are deleted at once", n)
	}
	for _, act := range planned[action.CreateMember](j) {
		for _, due := range j.dueObjects(act.Ordinal) {
			if object := j.Objects[due.key]; object != nil {
				if fate, _ := j.becomes(due.key, object); fate == returns {
					j.broke("object returns first", "%s although %s is to be deleted", act, due.key)
				}
			}
		}
	}
	j.toldRetired()
}

// toldRetired: the status tells how many are due, and when the first is.
func (j *judged) toldRetired() {
	want, first := map[string]int{}, map[string]time.Time{}
	for key, object := range j.Objects {
		fate, due := j.becomes(key, object)
		if name := toldAs(object.Labels[v1.ObjectTemplateLabel], j.leftOf(key, object) != nil); fate == begins || fate == retires ||
			fate == waits || fate == goes || fate == doubted {
			want[name]++
			if fate != begins && fate != retires && (first[name].IsZero() || due.Before(first[name])) {
				first[name] = due
			}
		}
	}
	got, told := map[string]int{}, map[string]time.Time{}
	for _, s := range j.plan.Status.ObjectTemplates {
		if kind := (schema.GroupKind{Kind: s.Kind}); !j.Kinds[kind].Known {
			continue
		}
		name := toldAs(s.Name, s.RemovedAt != nil)
		if s.Retired > 0 {
			got[name] = int(s.Retired)
		}
		if s.DueTime != nil {
			told[name] = s.DueTime.Time
		}
	}
	if !maps.Equal(got, want) || !maps.EqualFunc(told, first, time.Time.Equal) {
		j.broke("object due", "the status says that %v are retired, due at %v, want %v and %v", got, told, want, first)
	}
}

// toldAs is how the status is read about a template.
func toldAs(name string, removed bool) string {
	if removed {
		return name + ", removed"
	}
	return name
}

// isRemoval reports whether a template of objects was removed at a time that has yet to come by the clock
// of the controller. No object of the template is retired before that.
func (j *judged) isRemoval(at time.Time) bool {
	return slices.ContainsFunc(identity.RemovedTemplates(&j.Set.Status), func(s v1.ObjectTemplateStatus) bool {
		return s.RemovedAt != nil && s.RemovedAt.Time.Equal(at) && at.After(j.Now)
	})
}
