// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	v1 "statefulset.dev/api/apps/v1"
	"statefulset.dev/controller/plan/action"
	"statefulset.dev/controller/plan/words"
	"statefulset.dev/identity"
)

// lackingObjects plans the creation of the member's own objects that do not exist. It reports
// false, and records why, if the pod has to wait for other objects. An object that must be changed
// counts as existing.
func lackingObjects(f *facts, d *draft, m member) (lacking []action.Action, usable bool) {
	if f.supporting.reportUnreadable(d) {
		return nil, false
	}
	usable = true
	for _, template := range f.supporting.inCreationOrder {
		s := f.supporting.objectOf(template, m.ordinal)
		if s.state == objectMissing && !template.ForSet() {
			create, ok := createObject(d, s)
			lacking, usable = append(lacking, create), usable && ok
			continue
		}
		usable = d.usesObject(f, m, s) && usable
	}
	return lacking, usable
}

// hasObjects reports whether all objects exist that a member needs to be created again, and records
// what is missing.
func hasObjects(f *facts, d *draft, m member) bool {
	for _, template := range f.supporting.templates {
		if !d.usesObject(f, m, f.supporting.objectOf(template, m.ordinal)) {
			return false
		}
	}
	return f.supporting.unreadable == nil
}

// usesObject reports whether the pod of a member can be created with an object, and records why
// not.
func (d *draft) usesObject(f *facts, m member, s supportingObject) bool {
	switch s.state {
	case objectPresent, objectOutdated, objectUnmanaged:
		return d.hasKeys(f, m, s)
	case objectMissing:
		d.waitForObject(v1.ReasonWaitingForObjects, "%s: %s is being created", f.podName(m), s.key)
	case objectUnowned:
		d.waitForObject(v1.ReasonWaitingForObjects, "%s: %s waits for its owner %s", f.podName(m), s.key,
			identity.AnchorName(f.world.Set))
	case objectReturning:
		d.waitForObject(v1.ReasonWaitingForObjects, "%s: waiting for the retired-at annotation of %s to be removed",
			f.podName(m), s.key)
	case objectTerminating:
		d.waitForObject(v1.ReasonWaitingForObjects, "%s: %s is terminating", f.podName(m), s.key)
	case objectUnknown:
		if f.supporting.reportRefusedKind(d, s) {
			return false
		}
		d.waitForObject(v1.ReasonKindUnavailable, "%s: %s is not known yet", f.podName(m), s.key)
	case objectShared, objectExists, objectDoubled, objectLost:
		d.reportUnusable(s)
	}
	return false
}

// reportRefusedKind reports whether the host cluster does not let the controller watch a kind, and
// records that.
func (o *supportingObjects) reportRefusedKind(d *draft, s supportingObject) bool {
	why := o.world.Kinds[s.template.Kind().GroupKind()].Refused
	if why != "" {
		d.stall(v1.ReasonKindUnavailable, "%s cannot be watched: %s", s.kind(), words.SanitizeText(why))
	}
	return why != ""
}

// kind is the kind of an object in the form of the status.
func (s supportingObject) kind() string { return s.template.Kind().GroupKind().String() }

// reportUnusable records why an object cannot belong to the set.
func (d *draft) reportUnusable(s supportingObject) {
	word, message := s.unusable()
	if word != "" {
		d.stall(word, "%s", message)
	}
}

func (s supportingObject) unusable() (word, message string) {
	switch s.state {
	case objectShared:
		owner, _, _ := strings.Cut(s.found.Annotations[v1.OwnerAnnotation], "/")
		return v1.ReasonObjectShared, fmt.Sprintf("%s belongs to set %s", s.key, words.Sanitize(owner))
	case objectExists:
		return v1.ReasonObjectExists, s.key.String() + " exists and is not managed by this set"
	case objectLost:
		return s.lost()
	case objectDoubled:
		return v1.ReasonRenderFailed, fmt.Sprintf("objectTemplates[%s]: %s is also created from template %s", s.template.Template().Name, s.key,
			words.Sanitize(s.found.Labels[v1.ObjectTemplateLabel]))
	default:
		return "", ""
	}
}

// createObject is the action that creates a missing object. It reports false, and records why, if
// the object cannot be rendered.
func createObject(d *draft, s supportingObject) (action.CreateObject, bool) {
	made, ok := s.make(d)
	if !ok {
		return action.CreateObject{}, false
	}
	return action.CreateObject{
		Ordinal: s.ordinal, Template: s.template.Template().Name, Object: s.withKeys(made), Generate: s.template.Template().Generate}, true
}

// make is the object in the form of its template. It reports false, and records why, if the object
// cannot be rendered.
func (s supportingObject) make(d *draft) (*unstructured.Unstructured, bool) {
	made, wrong := s.template.Make(s.ordinal)
	if wrong == nil {
		if len(s.owners) > 0 {
			made.SetOwnerReferences(s.owners)
		}
		return made, true
	}
	whose := ""
	if s.ordinal != setOrdinal {
		whose = fmt.Sprintf(" for ordinal %d", s.ordinal)
	}
	d.stall(v1.ReasonRenderFailed, "%s", words.SanitizeText(wrong.In+whose+": "+wrong.Detail))
	return nil, false
}

// keepObjects creates the objects of the set and of members that have a pod, and changes objects
// that differ from their templates. It does not block the other rules.
func keepObjects(f *facts, d *draft) verdict {
	if f.supporting.reportUnreadable(d) {
		return proceed
	}
	for _, template := range f.supporting.templates {
		for s, needed := range f.supporting.objectsOf(template) {
			keepObject(f, d, s, needed)
		}
	}
	return proceed
}

// reportUnreadable reports whether the templates cannot be read, and records that.
func (o *supportingObjects) reportUnreadable(d *draft) bool {
	if o.unreadable != nil {
		d.stall(v1.ReasonRenderFailed, "%s: %s", o.unreadable.In, words.SanitizeText(o.unreadable.Detail))
	}
	return o.unreadable != nil
}

// keepObject maintains one object. A needed object belongs to the set, or to a member whose pod
// exists; all others are created with their members.
func keepObject(f *facts, d *draft, s supportingObject, needed bool) {
	switch {
	case s.state == objectOutdated:
		applyObject(f, d, s)
	case !needed:
	case s.state == objectMissing:
		if create, ok := createObject(d, s); ok {
			d.addForObject(create)
		}
	case s.state == objectUnknown:
		f.supporting.reportRefusedKind(d, s)
	case s.state == objectUnmanaged:
		d.compare(s)
	case s.state == objectTerminating, s.state == objectReturning, s.state == objectUnowned: // the pods wait for these
	default:
		d.reportUnusable(s)
	}
}

// mostCompared is how many objects that the set does not manage one plan compares with their
// templates.
const mostCompared = 16

// compare reports how an object that the set uses but does not manage differs from its template. It
// reports only the first of several, and does not read Secrets.
func (d *draft) compare(s supportingObject) {
	if d.differs || d.compared == mostCompared || s.key.Kind == "Secret" && s.key.Group == "" {
		return
	}
	d.compared++
	switch {
	case !s.found.Compared:
		d.reads.needs(s.read())
	case s.found.Differs != "":
		d.warn(v1.ReasonObjectDiffers, "%s is not managed by this set and differs from template %s in %s; using it unchanged", s.key,
			s.template.Template().Name, words.Sanitize(s.found.Differs))
		d.differs = true
	}
}

// applyObject changes an object to match its template. If another client keeps changing it back,
// the correction is delayed, for longer each time.
func applyObject(f *facts, d *draft, s supportingObject) {
	if s.corrects {
		if !d.drifts { // one warning is enough
			d.warn(v1.ReasonObjectDrifted, "%s differs from its template: %s", s.key, s.why)
			d.drifts = true
		}
		if wait := s.found.NotBefore.Sub(f.world.Now); wait > 0 {
			d.requeueAfter(wait)
			return
		}
	}
	if !s.owned {
		return // its owner must first exist and belong to the set
	}
	made, ok := s.make(d)
	if !ok {
		return
	}
	d.addForObject(action.ApplyObject{
		Ordinal: s.ordinal, Template: s.template.Template().Name, At: action.Exact(s.found), Object: made, Why: s.why, Corrects: s.corrects})
}

// addForObject plans an action for an object that does not block other actions, up to a limit for
// each plan. The next sync plans the rest.
func (d *draft) addForObject(act action.Action) {
	if d.kept == mostChanged {
		return
	}
	d.kept++
	d.finally = append(d.finally, action.Chain{act})
}

// waitForObject is like wait, for an object.
func (d *draft) waitForObject(word, format string, args ...any) {
	if d.waiting == "" {
		d.objectWord = word
	}
	d.wait(format, args...)
}
