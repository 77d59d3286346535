// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package scenarios

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "statefulset.dev/api/apps/v1"
)

// PutObject creates a ConfigMap by hand, unless one with its name exists.
type PutObject struct {
	Name string
	// Owner is the set that the object names as its owner, as in v1.OwnerAnnotation, empty for
	// none.
	Owner string
}

// PatchObject changes a ConfigMap by hand, with a JSON merge patch. It waits until the ConfigMap
// exists.
type PatchObject struct{ Name, Patch string }

// DeleteObject deletes a ConfigMap by hand. It waits until the ConfigMap exists.
type DeleteObject string

func (PutObject) step()    {}
func (PatchObject) step()  {}
func (DeleteObject) step() {}

func (s PutObject) String() string {
	return fmt.Sprintf("create %s (owner %q) by hand", s.Name, s.Owner)
}
func (s PatchObject) String() string  { return fmt.Sprintf("patch %s with %s", s.Name, s.Patch) }
func (s DeleteObject) String() string { return "delete " + string(s) }

// Object returns the ConfigMap to create.
func (s PutObject) Object() *corev1.ConfigMap {
	object := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: s.Name}, Data: map[string]string{"made": "by hand"}}
	if set, _, marked := strings.Cut(s.Owner, "/"); marked {
		object.Labels = map[string]string{v1.ObjectSetLabel: set}
		object.Annotations = map[string]string{v1.OwnerAnnotation: s.Owner}
	}
	return object
}

// quorum is the only expression of the scenarios.
const quorum = "string(REPLICAS / 2 + 1)"

// describes adds a ConfigMap for each member, and one for the set. They contain the number of
// desired members. The templates say how the set handles existing objects of other owners.
func describes(version int, policy v1.ExistingObjectPolicy) Patch {
	return describesAs("conf", version, policy)
}

func describesAs(template string, version int, policy v1.ExistingObjectPolicy) Patch {
	return Patch(fmt.Sprintf(`{"spec":{"objectTemplates":[
		{"name":%q,"existingPolicy":%q,"object":{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"$(IDENTITY)-conf"},"data":{"version":"%d","member":"$(ORDINAL) of $(REPLICAS)"}}},
		{"name":"all","scope":"Set","existingPolicy":%q,"object":{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"$(SET)-all"},"data":{"version":"%d"}},
			"transforms":[{"path":"/data/quorum","expression":%q}]}]}}`, template, policy, version, policy, version, quorum))
}

// Described is an object that a template of a set describes, from the point of view of an oracle:
// it contains only what the scenarios use.
type Described struct {
	// Ordinal is the ordinal of the member, empty for an object of the set.
	Template, Ordinal, Name string
	Data                    map[string]string
	// Refused is true if an existing object of another owner must not be used.
	Refused bool
	// Ends is true if the object is deleted with the set.
	Ends bool
}

// Describes returns the objects of a set, and of all its desired members, except Secrets with
// generated values.
func Describes(set *v1.StatefulSet) (all []Described) {
	for i := range set.Spec.ObjectTemplates {
		template := &set.Spec.ObjectTemplates[i]
		if len(template.Generate) > 0 {
			continue
		}
		if template.Scope == v1.SetObjectScope {
			all = append(all, described(set, template, ""))
			continue
		}
		for _, ordinal := range Wanted(set) {
			all = append(all, described(set, template, strconv.Itoa(ordinal)))
		}
	}
	return all
}

func described(set *v1.StatefulSet, template *v1.ObjectTemplate, ordinal string) Described {
	replicas := int(*set.Spec.Replicas)
	values := strings.NewReplacer("$(SET)", set.Name, "$(IDENTITY)", set.Name+"-"+ordinal, "$(ORDINAL)", ordinal, "$(REPLICAS)",
		strconv.Itoa(replicas))
	var object corev1.ConfigMap
	if err := json.Unmarshal([]byte(values.Replace(string(template.Object.Raw))), &object); err != nil {
		panic("decoding a template of a scenario: " + err.Error())
	}
	for _, t := range template.Transforms {
		if t.Expression != quorum {
			panic("no rule for the expression " + t.Expression)
		}
		object.Data[strings.TrimPrefix(t.Path, "/data/")] = strconv.Itoa(replicas/2 + 1)
	}
	return Described{
		template.Name, ordinal, object.Name, object.Data, template.ExistingPolicy == v1.RefuseExistingObject, endsWithSet(template)}
}

// IsOf reports whether an object names a set, or an earlier set of its name, as its owner.
func IsOf(set string, object metav1.Object) bool {
	return strings.HasPrefix(object.GetAnnotations()[v1.OwnerAnnotation], set+"/")
}

// Marks returns what is wrong with the labels, annotations and owners of an object of a set.
func (d Described) Marks(set *v1.StatefulSet, object metav1.Object) string {
	want := map[string]string{"app": Name, v1.ObjectSetLabel: set.Name, v1.ObjectTemplateLabel: d.Template}
	if d.Ordinal != "" {
		want[v1.ObjectOrdinalLabel] = d.Ordinal
	}
	owner := object.GetAnnotations()[v1.OwnerAnnotation]
	switch {
	case !maps.Equal(object.GetLabels(), want):
		return fmt.Sprintf("%s has the labels %v, want %v", d.Name, object.GetLabels(), want)
	case owner != set.Name+"/"+string(set.UID):
		return fmt.Sprintf("%s names the owner %q, but the set has UID %s", d.Name, owner, set.UID)
	case slices.ContainsFunc(object.GetOwnerReferences(), IsAnchor) != d.Ends, len(object.GetOwnerReferences()) > 1,
		len(object.GetOwnerReferences()) == 1 && !d.Ends:
		return fmt.Sprintf("%s has the owners %v; it should be deleted with the set: %t", d.Name, object.GetOwnerReferences(), d.Ends)
	default:
		return ""
	}
}

// wrongObject returns how an object of the set still differs from its description.
func (o Observed) wrongObject(d Described) string {
	at := slices.IndexFunc(o.Objects, func(object corev1.ConfigMap) bool { return object.Name == d.Name })
	if at < 0 {
		return fmt.Sprintf("%s does not exist", d.Name)
	}
	object := &o.Objects[at]
	switch {
	case object.DeletionTimestamp != nil:
		return d.Name + " is terminating"
	case !IsOf(o.Set.Name, object) && d.Refused:
		return d.Name + " exists and belongs to another owner"
	case !IsOf(o.Set.Name, object):
		return ""
	case !maps.Equal(object.Data, d.Data):
		return fmt.Sprintf("%s has the data %v, want %v", d.Name, object.Data, d.Data)
	default:
		return d.Marks(o.Set, object)
	}
}

// objectsMissing returns what is still wrong with the objects of the set, or with their status.
func (o Observed) objectsMissing() string {
	for _, d := range Describes(o.Set) {
		if wrong := o.wrongObject(d); wrong != "" {
			return wrong
		}
	}
	if left := o.objectsLeft(); left != "" {
		return left
	}
	if got, want := len(o.Set.Status.ObjectTemplates), len(o.Set.Spec.ObjectTemplates); got != want {
		return fmt.Sprintf("status has %d object templates, want %d", got, want)
	}
	for _, s := range o.Set.Status.ObjectTemplates {
		if s.Present+s.Foreign != s.Wanted || s.Updated != s.Present || s.Retired > 0 {
			return fmt.Sprintf("status of an object template is %+v, want all its objects up to date and none due for deletion", s)
		}
	}
	return ""
}

// objectLines describes the objects that the set describes. It omits other objects, some of which
// may belong to members that were removed meanwhile.
func (o Observed) objectLines() (lines []string) {
	if o.Set == nil {
		return nil
	}
	for _, d := range Describes(o.Set) {
		at := slices.IndexFunc(o.Objects, func(object corev1.ConfigMap) bool { return object.Name == d.Name })
		if at < 0 {
			lines = append(lines, "object "+d.Name+": none")
			continue
		}
		object := &o.Objects[at]
		lines = append(lines, fmt.Sprintf("object %s: the set's %t, data %v, labels %v, terminating %t", d.Name, d.Marks(o.Set, object) == "",
			object.Data, words(object.Labels), object.DeletionTimestamp != nil))
	}
	return lines
}

// Refusing describes objects, and refuses existing objects of other owners.
func Refusing(version int) Patch { return describes(version, v1.RefuseExistingObject) }

// Refused waits until the set reports that an object belongs to another owner.
func Refused() Wait { return Wait{"the set refuses an existing object", notRefused} }

func notRefused(o Observed) string {
	if o.Set == nil {
		return "the set does not exist"
	}
	if slices.ContainsFunc(o.Set.Status.Conditions, func(c v1.StatefulSetCondition) bool { return c.Reason == v1.ReasonObjectExists }) {
		return ""
	}
	return fmt.Sprintf("the conditions are %+v, want one with reason ObjectExists", o.Set.Status.Conditions)
}
