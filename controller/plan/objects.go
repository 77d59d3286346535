// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"iter"
	"slices"
	"strconv"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "statefulset.dev/api/apps/v1"
	"statefulset.dev/controller/plan/words"
	"statefulset.dev/identity"
	"statefulset.dev/identity/render"
)

// Object is what the planner knows about a supporting object: its metadata, and what the controller
// has found out about it.
type Object struct {
	metav1.ObjectMeta

	// OwnerLives is true if the object names another existing set as its owner.
	OwnerLives bool
	// Drifted is true if another client has changed fields that the set manages. DriftedBy is that
	// client, empty if it is not known. NotBefore is when the object may be corrected.
	Drifted   bool
	DriftedBy string
	NotBefore time.Time
	// Outputs are the values that the object provides, by the names of its template's outputs. They
	// are nil if the current version of the object was not read: the controller reads it only for
	// pods that wait for it.
	Outputs map[string]render.Output
	// Compared is true if the current version of an object that the set does not manage was
	// compared with its template. Differs is the path of the first field that differs, empty if
	// there is none.
	Compared bool
	Differs  string
	// Settled is the digest of the inputs with which an apply has left the current version of the
	// object unchanged. It is empty if that was not tried.
	Settled string
}

// Kind says whether all objects of a kind are known. It is the zero value until they have been
// listed.
type Kind struct {
	Known bool
	// Refused says why they are not known, empty if they will be soon.
	Refused string
}

// objectState is the state of an object that a template describes.
type objectState int

const (
	// objectUnknown: the objects of its kind are not known.
	objectUnknown objectState = iota
	// objectMissing: no object has its name.
	objectMissing
	// objectUnowned: no object has its name, and its future owner does not exist yet.
	objectUnowned
	// objectPresent: it belongs to the set, and matches its template.
	objectPresent
	// objectOutdated: it belongs to the set or to an earlier one, and must be changed.
	objectOutdated
	// objectReturning: it belongs to the set or to an earlier one, and is marked for deletion.
	objectReturning
	// objectUnmanaged: it is not managed by the set, and the set uses it.
	objectUnmanaged
	// objectTerminating: it is terminating, or about to be deleted with an earlier set of the name.
	objectTerminating
	// objectShared: it belongs to another set.
	objectShared
	// objectExists: it is not managed by the set, and the set must not use it.
	objectExists
	// objectLost: no object has its name, and it must not be created again.
	objectLost
	// objectDoubled: it belongs to the set, but to another template or member with the same name
	// for it.
	objectDoubled
)

// supportingObject is an object that a template describes.
type supportingObject struct {
	template identity.Object
	ordinal  int // setOrdinal if it belongs to the set
	key      identity.ObjectKey
	found    *Object
	state    objectState
	// owners are the owner references to set, and owned is true if all these owners exist.
	owners []metav1.OwnerReference
	owned  bool
	// why says why the object is outdated.
	why string
	// corrects is true if the only reason is that another client has changed the object.
	corrects bool
}

// setOrdinal stands for the set where an ordinal is expected.
const setOrdinal = -1

// supportingObjects are the supporting objects of a set: what its templates describe, and what
// exists in the host cluster.
type supportingObjects struct {
	world     World
	roster    identity.Ordinals
	members   []member
	podNamed  func(name string) *corev1.Pod
	overrides *identity.Overrides

	// templates describe the objects. unreadable says why the templates cannot be read, nil if they
	// can.
	templates  []identity.Object
	unreadable *render.Error
	// inCreationOrder are these templates, with those that generate Secrets first. usedSecrets are
	// the generated Secrets that a claim or a pod uses, nil if no template generates.
	inCreationOrder []identity.Object
	usedSecrets     map[string]bool
	// places are the described objects, both of the set and of its members.
	places map[objectPlace]supportingObject
	// anchored is true if some of the objects are deleted with the set. anchor is their owner, nil
	// if it does not exist. anchorOwners are their references to it, nil if the anchor is not
	// deleted with the set.
	anchored     bool
	anchor       *appsv1.ControllerRevision
	anchorOwners []metav1.OwnerReference
	// claimBySecret has, for each generated Secret, the first claim that records it.
	claimBySecret map[string]string
	// removed is what the status records about templates that were removed from the set. If there
	// is any, podTemplate is the text of the pod template.
	removed     []v1.ObjectTemplateStatus
	podTemplate string
	// currentRevision and updateRevision are those of the set.
	currentRevision, updateRevision string
	// retired are the objects of removed members and templates that are deleted after a delay.
	// returning are the objects that carry such a date but stay. keptBecause says, by template, why
	// an object is not retired.
	retired, returning []retiredObject
	keptBecause        map[string]string
}

// surveyObjects finds the objects that the templates of a set describe.
func (f *facts) surveyObjects() *supportingObjects {
	o := &supportingObjects{world: f.world, roster: f.roster, members: f.members, podNamed: f.podNamed, overrides: f.overrides}
	o.findAnchor()
	o.findClaimsWithSecrets()
	o.findObjects()
	return o
}

func (o *supportingObjects) findObjects() {
	if len(o.world.Set.Spec.ObjectTemplates) == 0 {
		return
	}
	o.templates, o.unreadable = o.overrides.Objects()
	o.findUsedSecrets()
	o.places = map[objectPlace]supportingObject{}
	for _, template := range o.templates {
		if template.ForSet() {
			o.findObject(template, setOrdinal)
			continue
		}
		for _, m := range o.members {
			o.findObject(template, m.ordinal)
		}
	}
}

// objectPlace identifies an object of a set.
type objectPlace struct {
	template string
	ordinal  int
}

func (o *supportingObjects) findObject(template identity.Object, ordinal int) {
	s := supportingObject{template: template, ordinal: ordinal, key: template.Key(ordinal)}
	s.found = o.world.Objects[s.key]
	s.owners, s.owned = o.ownersFor(template)
	s.state = o.stateOf(&s)
	o.places[objectPlace{template.Template().Name, ordinal}] = s
}

// objectParts is the size, in parts, of the objects that are created with a member.
func (f *facts) objectParts() (parts int) {
	for i := range f.world.Set.Spec.ObjectTemplates {
		if template := &f.world.Set.Spec.ObjectTemplates[i]; !template.IsForSet() {
			parts += 1 + template.Size()/renderedParts
		}
	}
	return parts
}

// objectOf is the object that a template describes for a member or for the set.
func (o *supportingObjects) objectOf(template identity.Object, ordinal int) supportingObject {
	if template.ForSet() {
		ordinal = setOrdinal
	}
	return o.places[objectPlace{template.Template().Name, ordinal}]
}

// objectsOf are the objects of a template, and whether each must exist now: the set's object must,
// and a member's object if the member has a pod.
func (o *supportingObjects) objectsOf(template identity.Object) iter.Seq2[supportingObject, bool] {
	return func(yield func(supportingObject, bool) bool) {
		if template.ForSet() {
			yield(o.objectOf(template, setOrdinal), true)
			return
		}
		for _, m := range o.members {
			if !yield(o.objectOf(template, m.ordinal), m.pod != nil) {
				return
			}
		}
	}
}

// openObject describes what is open for the first object of the set, or of a member that has a pod.
// It is empty if nothing is open. Changes by other clients do not count: they are corrected anyway.
func (o *supportingObjects) openObject() string {
	for _, template := range o.templates {
		if text := o.openUnknown(template); text != "" {
			return text
		}
		for s, needed := range o.objectsOf(template) {
			if text := s.open(); text != "" && (needed || s.state == objectOutdated) {
				return text
			}
		}
	}
	return ""
}

// open describes what is open for an object, empty if it matches its template or is not known.
func (s supportingObject) open() string {
	switch s.state {
	case objectMissing, objectUnowned:
		return s.key.String() + " is being created"
	case objectTerminating:
		return s.key.String() + " is terminating"
	case objectReturning:
		return "the retired-at annotation of " + s.key.String() + " is being removed"
	case objectOutdated:
		if s.corrects {
			return ""
		}
		return s.key.String() + " is being changed"
	case objectShared, objectExists, objectDoubled, objectLost:
		_, message := s.unusable()
		return message
	case objectUnknown, objectPresent, objectUnmanaged:
	}
	return ""
}

func (o *supportingObjects) stateOf(s *supportingObject) objectState {
	switch {
	case !o.world.Kinds[s.template.Kind().GroupKind()].Known:
		return objectUnknown
	case s.found == nil:
		return o.stateOfMissing(s)
	case s.found.DeletionTimestamp != nil || o.ofEarlierSet(s.found):
		return objectTerminating
	}
	switch own, inherited := o.isOwn(s.found), o.isInherited(s.found); {
	case (own || inherited) && o.returns(s.found):
		return objectReturning
	case own:
		return o.stateOfOwned(s)
	case inherited:
		s.why = "it was created for an earlier set of this name"
		return objectOutdated
	case s.found.OwnerLives:
		return objectShared
	case s.template.Template().ExistingPolicy == v1.RefuseExistingObject:
		return objectExists
	default:
		return objectUnmanaged
	}
}

// stateOfMissing says whether an object that does not exist can be created.
func (o *supportingObjects) stateOfMissing(s *supportingObject) objectState {
	switch {
	case o.isLost(s):
		return objectLost
	case !s.owned:
		return objectUnowned
	default:
		return objectMissing
	}
}

// stateOfOwned says how an object that belongs to the set compares to its template.
func (o *supportingObjects) stateOfOwned(s *supportingObject) objectState {
	if o.isOfAnother(s) {
		return objectDoubled
	}
	switch labels, due := s.found.Labels, s.template.Digest(s.ordinal); {
	case s.found.Settled == due:
		return objectPresent
	case s.found.Annotations[v1.ObjectInputsAnnotation] != due:
		s.why = "its template, or a value that the template uses, has changed"
	case labels[v1.ObjectSetLabel] != o.world.Set.Name, labels[v1.ObjectTemplateLabel] != s.template.Template().Name,
		labels[v1.ObjectOrdinalLabel] != ordinalLabel(s.ordinal):
		s.why = "it lacks labels by which the controller finds it"
	case s.found.Drifted:
		s.why, s.corrects = "another client has changed it", true
		if s.found.DriftedBy != "" {
			s.why = words.Sanitize(s.found.DriftedBy) + " has changed it"
		}
	default:
		return objectPresent
	}
	return objectOutdated
}

// isOfAnother reports whether an object of the set belongs to another template or member, for which
// it has the same name.
func (o *supportingObjects) isOfAnother(s *supportingObject) bool {
	made, label := s.found.Labels[v1.ObjectTemplateLabel], s.found.Labels[v1.ObjectOrdinalLabel]
	if made == s.template.Template().Name && label == ordinalLabel(s.ordinal) {
		return false
	}
	at := slices.IndexFunc(o.templates, func(t identity.Object) bool { return t.Template().Name == made })
	if at < 0 {
		return false
	}
	other := o.templates[at]
	ordinal, err := strconv.Atoi(label)
	if other.ForSet() {
		return label == "" && other.Key(setOrdinal) == s.key
	}
	return err == nil && o.roster.Contains(ordinal) && other.Key(ordinal) == s.key
}

func ordinalLabel(ordinal int) string {
	if ordinal == setOrdinal {
		return ""
	}
	return strconv.Itoa(ordinal)
}

// ofEarlierSet reports whether an object is deleted with an earlier set of this name, because it
// belongs to that set or to its anchor.
func (o *supportingObjects) ofEarlierSet(object *Object) bool {
	return o.ownedByEarlierSet(object) || o.goesWithAnchor(object)
}

func (o *supportingObjects) ownedByEarlierSet(object metav1.Object) bool {
	return slices.ContainsFunc(object.GetOwnerReferences(), func(ref metav1.OwnerReference) bool {
		return refersToSet(o.world.Set, ref) && ref.UID != o.world.Set.UID
	})
}
