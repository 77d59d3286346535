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

// Object is what the planner knows of an object beside the pods: its metadata, and what the
// controller has found out about it.
type Object struct {
	metav1.ObjectMeta

	// OwnerLives is true if another set that there is says that the object is its.
	OwnerLives bool
	// Drifted is true if somebody has changed what the set wants of it, DriftedBy is who, empty if
	// that is not known, and NotBefore when it may be corrected.
	Drifted   bool
	DriftedBy string
	NotBefore time.Time
	// Outputs are what it gives, by the names of its template's outputs, nil if it was not read as it
	// is now. That is done for pods that wait for it.
	Outputs map[string]render.Output
	// Compared is true if it was read as it is now, and Differs the path of the first field that its
	// template describes otherwise, if it is somebody else's; empty if there is none.
	Compared bool
	Differs  string
	// Settled are the inputs with which applying the object as it is has changed nothing, whatever
	// it looks like; empty if that was not tried.
	Settled string
}

// Kind says whether all objects of a kind are known. It is the zero value until they have been
// listed.
type Kind struct {
	Known bool
	// Refused says why they are not, empty if they will be soon.
	Refused string
}

// objectStanding is how an object that a template describes stands.
type objectStanding int

const (
	// objectUnknown: objects of its kind are not known.
	objectUnknown objectStanding = iota
	// objectMissing: nobody has one of its name.
	objectMissing
	// objectUnowned: nobody has one of its name, and what it is to belong to is not there.
	objectUnowned
	// objectPresent: it is the set's, and as it is to be.
	objectPresent
	// objectOutdated: it is the set's, or was an earlier one's, and is to be changed.
	objectOutdated
	// objectReturning: it is the set's, or was an earlier one's, and says that it is to be deleted.
	objectReturning
	// objectForeign: it is somebody else's, and used.
	objectForeign
	// objectGoing: it is being deleted, or about to be with an earlier set of the name.
	objectGoing
	// objectShared: it is that of another set.
	objectShared
	// objectExists: it is somebody else's, and not to be used.
	objectExists
	// objectLost: nobody has one of its name, and it must not be made again.
	objectLost
	// objectDoubled: it is the set's, of another template or member that has the same name for it.
	objectDoubled
)

// supporting is an object that a template describes.
type supportingObject struct {
	of      identity.Object
	ordinal int // setOrdinal if it is the set's
	key     identity.ObjectKey
	found   *Object
	is      objectStanding
	// owners are what it is to belong to, and owned is true if all of that is there.
	owners []metav1.OwnerReference
	owned  bool
	// why says why the object is outdated.
	why string
	// corrects is true if nothing is wrong with it but that somebody has changed it.
	corrects bool
}

// setOrdinal stands for the whole set where an ordinal is asked for.
const setOrdinal = -1

// supportingObjects are the objects beside the pods of a set: what its templates describe, and what the host has.
type supportingObjects struct {
	world     World
	roster    identity.Ordinals
	members   []member
	podNamed  func(name string) *corev1.Pod
	overrides *identity.Overrides

	// templates describe them, unreadable says why these cannot be read, nil if they can.
	templates  []identity.Object
	unreadable *render.Error
	// making are these templates, those that generate first, and given the Secrets that a claim or a
	// pod has been given, nil if no template generates.
	making []identity.Object
	given  map[string]bool
	// places are the objects that the templates describe, of the set and of the members.
	places map[objectPlace]supportingObject
	// anchored is true if some of them are deleted with the set. anchor is what those belong to, nil if
	// there is none, and anchorOwners their references to it, nil if it does not go with the set.
	anchored     bool
	anchor       *appsv1.ControllerRevision
	anchorOwners []metav1.OwnerReference
	// knownBy are claims by the generated Secrets that they know.
	knownBy map[string]string
	// removed is what the status says of templates that the set has no more. If there is any of these,
	// podTemplate is the text of the pod template.
	removed     []v1.ObjectTemplateStatus
	podTemplate string
	// currentRevision and updateRevision are those of the set.
	currentRevision, updateRevision string
	// retired are the objects of removed members and templates that are deleted some time after that,
	// and returning those that are dated for it and are to stay. spared says, by template, why an object
	// is not among the former.
	retired, returning []retiredObject
	spared             map[string]string
}

// surveyObjects finds the objects that the templates of a set describe.
func (f *facts) surveyObjects() *supportingObjects {
	o := &supportingObjects{world: f.world, roster: f.roster, members: f.members, podNamed: f.podNamed, overrides: f.overrides}
	o.findAnchor()
	o.findKnowing()
	o.findObjects()
	return o
}

func (o *supportingObjects) findObjects() {
	if len(o.world.Set.Spec.ObjectTemplates) == 0 {
		return
	}
	o.templates, o.unreadable = o.overrides.Objects()
	o.findGiven()
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

// objectPlace says which object of a set one is.
type objectPlace struct {
	template string
	ordinal  int
}

func (o *supportingObjects) findObject(template identity.Object, ordinal int) {
	s := supportingObject{of: template, ordinal: ordinal, key: template.Key(ordinal)}
	s.found = o.world.Objects[s.key]
	s.owners, s.owned = o.ownersFor(template)
	s.is = o.standingOfObject(&s)
	o.places[objectPlace{template.Template().Name, ordinal}] = s
}

// objectParts is how much the objects of a member are that are made with it.
func (f *facts) objectParts() (parts int) {
	for i := range f.world.Set.Spec.ObjectTemplates {
		if template := &f.world.Set.Spec.ObjectTemplates[i]; !template.IsForSet() {
			parts += 1 + template.Size()/renderedParts
		}
	}
	return parts
}

// objectOf is the object that a template describes, of a member or of the set.
func (o *supportingObjects) objectOf(template identity.Object, ordinal int) supportingObject {
	if template.ForSet() {
		ordinal = setOrdinal
	}
	return o.places[objectPlace{template.Template().Name, ordinal}]
}

// objectsOf are the objects of a template, and whether each is to be there now: the set's is, and a
// member's beside its pod.
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

// openObject says what the first object of the set, or of a member that has a pod, has yet to
// become, empty if there is no such object. What somebody has changed is corrected without that.
func (o *supportingObjects) openObject() string {
	for _, template := range o.templates {
		if text := o.openUnknown(template); text != "" {
			return text
		}
		for s, needed := range o.objectsOf(template) {
			if text := s.open(); text != "" && (needed || s.is == objectOutdated) {
				return text
			}
		}
	}
	return ""
}

// open says what an object has yet to become, empty if it is what it is to be or not known.
func (s supportingObject) open() string {
	switch s.is {
	case objectMissing, objectUnowned:
		return s.key.String() + " is being created"
	case objectGoing:
		return s.key.String() + " is terminating"
	case objectReturning:
		return s.key.String() + " was to be deleted, and is kept"
	case objectOutdated:
		if s.corrects {
			return ""
		}
		return s.key.String() + " is being changed"
	case objectShared, objectExists, objectDoubled, objectLost:
		_, message := s.taken()
		return message
	case objectUnknown, objectPresent, objectForeign:
	}
	return ""
}

func (o *supportingObjects) standingOfObject(s *supportingObject) objectStanding {
	switch {
	case !o.world.Kinds[s.of.Kind().GroupKind()].Known:
		return objectUnknown
	case s.found == nil:
		return o.standingOfNone(s)
	case s.found.DeletionTimestamp != nil || o.ofEarlierSet(s.found):
		return objectGoing
	}
	switch own, inherited := o.isOwn(s.found), o.isInherited(s.found); {
	case (own || inherited) && o.returns(s.found):
		return objectReturning
	case own:
		return o.standingOfOurs(s)
	case inherited:
		s.why = "it was made for an earlier set of this name"
		return objectOutdated
	case s.found.OwnerLives:
		return objectShared
	case s.of.Template().ExistingPolicy == v1.RefuseExistingObject:
		return objectExists
	default:
		return objectForeign
	}
}

// standingOfNone says whether an object that nobody has can be made.
func (o *supportingObjects) standingOfNone(s *supportingObject) objectStanding {
	switch {
	case o.isLost(s):
		return objectLost
	case !s.owned:
		return objectUnowned
	default:
		return objectMissing
	}
}

// standingOfOurs says how an object that is the set's stands to its template.
func (o *supportingObjects) standingOfOurs(s *supportingObject) objectStanding {
	if o.isOfAnother(s) {
		return objectDoubled
	}
	switch labels, due := s.found.Labels, s.of.Digest(s.ordinal); {
	case s.found.Settled == due:
		return objectPresent
	case s.found.Annotations[v1.ObjectInputsAnnotation] != due:
		s.why = "its template, or what that names, has changed"
	case labels[v1.ObjectSetLabel] != o.world.Set.Name, labels[v1.ObjectTemplateLabel] != s.of.Template().Name,
		labels[v1.ObjectOrdinalLabel] != ordinalLabel(s.ordinal):
		s.why = "it lacks labels by which it is found"
	case s.found.Drifted:
		s.why, s.corrects = "somebody has changed it", true
		if s.found.DriftedBy != "" {
			s.why = words.Foreign(s.found.DriftedBy) + " has changed it"
		}
	default:
		return objectPresent
	}
	return objectOutdated
}

// isOfAnother reports whether an object of the set is that of another template or member, for
// which it has the same name.
func (o *supportingObjects) isOfAnother(s *supportingObject) bool {
	made, label := s.found.Labels[v1.ObjectTemplateLabel], s.found.Labels[v1.ObjectOrdinalLabel]
	if made == s.of.Template().Name && label == ordinalLabel(s.ordinal) {
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

// ofEarlierSet reports whether an object is deleted with an earlier set of this name, to which it
// belongs, or its anchor.
func (o *supportingObjects) ofEarlierSet(object *Object) bool {
	return o.ownedByEarlierSet(object) || o.goesWithAnchor(object)
}

func (o *supportingObjects) ownedByEarlierSet(object metav1.Object) bool {
	return slices.ContainsFunc(object.GetOwnerReferences(), func(ref metav1.OwnerReference) bool {
		return refersToSet(o.world.Set, ref) && ref.UID != o.world.Set.UID
	})
}
