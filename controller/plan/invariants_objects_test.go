// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	v1 "statefulset.dev/api/apps/v1"
	"statefulset.dev/controller/plan/action"
	"statefulset.dev/identity"
)

// unknownObjects are the templates of a kind that is not known yet whose objects were not all there
// when it was, or never seen.
func (f evidence) unknownObjects() (names []string) {
	for _, template := range f.Set.Spec.ObjectTemplates {
		var written metav1.TypeMeta
		if err := json.Unmarshal(template.Object.Raw, &written); err != nil {
			continue
		}
		kind := f.Kinds[schema.FromAPIVersionAndKind(written.APIVersion, written.Kind).GroupKind()]
		due, there := f.dueOf(template), 0
		for _, told := range f.Set.Status.ObjectTemplates {
			if told.Name == template.Name {
				there = int(told.Updated + told.Foreign)
			}
		}
		if !kind.Known && kind.Refused == "" && there < due {
			names = append(names, fmt.Sprintf("objects of %s are not known, and %d of %d were there", template.Name, there, due))
		}
	}
	return names
}

// dueOf is how many objects of a template have to be there: one a member that has a pod, or one.
func (f evidence) dueOf(template v1.ObjectTemplate) (due int) {
	if template.Scope == v1.SetObjectScope {
		return 1
	}
	for _, ordinal := range f.ordinals {
		if f.member(ordinal) != nil {
			due++
		}
	}
	return due
}

func (f evidence) knows(key identity.ObjectKey) bool {
	return f.Kinds[schema.GroupKind{Kind: key.Kind}].Known
}

// isUsable reports whether there is an object that will do.
func (f evidence) isUsable(due dueObject) bool {
	object := f.Objects[due.key]
	if !f.knows(due.key) || object == nil || object.DeletionTimestamp != nil || f.isLoose(object) {
		return false
	}
	owner, _, _ := strings.Cut(object.Annotations[ownerNote], "/")
	switch owner {
	case f.Set.Name:
		return true
	default:
		return !due.refuses && !object.OwnerLives
	}
}

// objects: nothing is made of what exists or is not known, nothing of others is changed, and what
// is changed lacks something.
func (j *judged) objects() {
	made := map[identity.ObjectKey]bool{}
	for _, act := range planned[action.CreateObject](j) {
		key := identity.ObjectKey{Kind: act.Object.GetKind(), Name: act.Object.GetName()}
		if j.Objects[key] != nil || made[key] && !j.doubles() || !j.knows(key) {
			j.broke("one object", "%s, and there is %v, made so far %v, known: %t", act, j.Objects[key], made, j.knows(key))
		}
		made[key] = true
		j.marked(act.Object, act.Ordinal, act.Template)
	}
	for _, act := range planned[action.ApplyObject](j) {
		key := identity.ObjectKey{Kind: act.Object.GetKind(), Name: act.Object.GetName()}
		found := j.Objects[key]
		switch owner, _, _ := strings.Cut(found.Annotations[ownerNote], "/"); {
		case owner != j.Set.Name || found.DeletionTimestamp != nil:
			j.broke("strangers", "%s, which is %v", act, found)
		case !found.Drifted && found.Annotations[ownerNote] == "web/"+string(j.Set.UID) &&
			found.Annotations[v1.ObjectInputsAnnotation] == act.Object.GetAnnotations()[v1.ObjectInputsAnnotation] &&
			found.Labels[v1.ObjectTemplateLabel] == act.Template:
			j.broke("idle apply", "%s, which is so", act)
		case j.Now.Before(found.NotBefore) && contentOf(found.Labels) == contentOf(act.Object.GetLabels()) &&
			found.Labels[v1.ObjectTemplateLabel] == act.Template && found.Annotations[ownerNote] == "web/"+string(j.Set.UID) &&
			j.endsAs(found, act.Template):
			j.broke("idle apply", "%s before %s", act, found.NotBefore)
		}
		if !slices.ContainsFunc(j.plan.Finally,
			func(chain action.Chain) bool { return len(chain) == 1 && fmt.Sprint(chain[0]) == fmt.Sprint(act) }) {
			j.broke("objects aside", "%s, and other things may rest on it", act)
		}
		j.marked(act.Object, act.Ordinal, act.Template)
	}
	j.objectsFirst()
	j.objectsForSuccessors()
	j.toldObjects()
	j.generated()
	j.outputs()
	j.outputsForSuccessors()
}

// doubles reports whether two templates make the same object.
func (f evidence) doubles() bool {
	return slices.ContainsFunc(f.Set.Spec.ObjectTemplates, func(t v1.ObjectTemplate) bool { return t.Name == "again" })
}

// marked: what is made says whose it is, and from what.
func (j *judged) marked(object *unstructured.Unstructured, ordinal int, template string) {
	labels := object.GetLabels()
	label, has := labels[v1.ObjectOrdinalLabel]
	if object.GetAnnotations()[ownerNote] != "web/"+string(j.Set.UID) || labels[v1.ObjectSetLabel] != j.Set.Name ||
		labels[v1.ObjectTemplateLabel] != template || has != (ordinal >= 0) || has && label != strconv.Itoa(ordinal) {
		j.broke("marks", "%v of template %s for %d", object, template, ordinal)
	}
}

// objectsFirst: a pod is created when the objects of the set are there, and its own, or are made
// first, in the same chain.
func (j *judged) objectsFirst() {
	for _, chain := range slices.Concat(j.plan.Chains, j.plan.Finally) {
		made := map[identity.ObjectKey]bool{}
		for _, act := range chain {
			switch a := act.(type) {
			case action.CreateObject:
				made[identity.ObjectKey{Kind: a.Object.GetKind(), Name: a.Object.GetName()}] = true
			case action.CreateMember:
				for _, due := range j.dueObjects(a.Ordinal) {
					if (!j.isUsable(due) || !j.hasPassword(due)) && (due.set || !made[due.key]) {
						j.broke("objects first", "%s without %s", a, due.key)
					}
				}
			}
		}
	}
}

// objectsForSuccessors: no pod is taken away to be created again while an object is lacking that
// it would need.
func (j *judged) objectsForSuccessors() {
	for _, act := range planned[action.DeletePod](j) {
		if act.Reason == action.DeleteFinished || act.Reason == action.DeleteForScaleDown || act.Reason == action.DeleteUnrestarted ||
			act.Reason == action.DeleteUnresized || !j.wanted(act.Ordinal) {
			continue
		}
		for _, due := range j.dueObjects(act.Ordinal) {
			if !j.isUsable(due) || !j.hasPassword(due) {
				j.broke("objects of successors", "%s without %s", act, due.key)
			}
		}
	}
}

// everyObject are all objects that the set is to have.
func (f evidence) everyObject() (all []dueObject) {
	ordinals := f.ordinals
	if len(ordinals) == 0 {
		ordinals = []int{0}
	}
	for i, ordinal := range ordinals {
		for _, due := range f.dueObjects(ordinal) {
			if due.set && i == 0 || !due.set && len(f.ordinals) > 0 {
				all = append(all, due)
			}
		}
	}
	return all
}

// isCurrent reports whether an object is the set's, and what its template describes now.
func (f evidence) isCurrent(due dueObject) bool {
	object := f.Objects[due.key]
	return f.isUsable(due) && object.Annotations[ownerNote] == "web/"+string(f.Set.UID) && contentOf(object.Labels) == due.content &&
		object.Labels[v1.ObjectTemplateLabel] == due.template &&
		(f.endsAs(object, due.template) || object.Drifted && f.appliedAs(object, due.template))
}

// lacksObjects says which objects are not as they are to be.
func (f evidence) lacksObjects() (lacks []string) {
	for _, due := range f.everyObject() {
		switch {
		case !f.knows(due.key):
		case !f.isUsable(due):
			lacks = append(lacks, due.key.String()+" is missing")
		case f.isReturning(f.Objects[due.key]):
			lacks = append(lacks, due.key.String()+" is to be deleted")
		case strings.HasPrefix(f.Objects[due.key].Annotations[ownerNote], f.Set.Name+"/") && !f.isCurrent(due):
			lacks = append(lacks, fmt.Sprintf("%s is %v, want %q", due.key, f.Objects[due.key], due.content))
		}
	}
	return lacks
}

// isOthers reports whether an object is controlled by somebody else, or goes with an owner of before.
func (f evidence) isOthers(object *Object) bool {
	return slices.ContainsFunc(object.OwnerReferences, func(ref metav1.OwnerReference) bool {
		return f.former(ref) || !f.ours(ref) && ref.Controller != nil && *ref.Controller
	})
}

// isReturning reports whether an object that is wanted says that it is to be deleted.
func (f evidence) isReturning(object *Object) bool {
	_, dated := object.Annotations[retiredNote]
	return dated && !f.isOthers(object) && strings.HasPrefix(object.Annotations[ownerNote], f.Set.Name+"/")
}

// toldObjects: the status counts the objects that there are.
func (j *judged) toldObjects() {
	all := slices.DeleteFunc(slices.Clone(j.plan.Status.ObjectTemplates), func(s v1.ObjectTemplateStatus) bool { return s.RemovedAt != nil })
	if len(all) != len(j.Set.Spec.ObjectTemplates) {
		j.broke("told objects", "the status tells of %v, and the set has %d templates", all, len(j.Set.Spec.ObjectTemplates))
		return
	}
	j.toldRemoved()
	for i, told := range all {
		wanted, usable := len(j.ordinals), 0
		for n, ordinal := range j.ordinals {
			due := j.dueObjects(ordinal)[i]
			if due.set && n > 0 {
				continue
			}
			if j.isUsable(due) {
				usable++
			}
		}
		if due := j.dueObjects(0)[i]; due.set {
			wanted = 1
			if usable = 0; j.isUsable(due) {
				usable = 1
			}
			if !j.knows(due.key) {
				continue
			}
		} else if !j.knows(due.key) {
			continue
		}
		if int(told.Wanted) != wanted || !j.doubles() && int(told.Present+told.Foreign) != usable || told.Updated > told.Present {
			j.broke("told objects", "the status tells of %v, want %d of which %d are there", told, wanted, usable)
		}
	}
}

// movedObjects are how many objects of a status are there, and as they are to be.
func movedObjects(status v1.StatefulSetStatus) (counts [][2]int32) {
	for _, s := range status.ObjectTemplates {
		counts = append(counts, [2]int32{s.Present + s.Foreign, s.Updated})
	}
	return counts
}
