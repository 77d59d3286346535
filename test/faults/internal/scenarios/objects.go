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

// PutObject creates a ConfigMap by hand, unless there is one of its name.
type PutObject struct {
	Name string
	// Owner is the set whose object it says that it is, as in v1.OwnerAnnotation, empty for none.
	Owner string
}

// PatchObject changes a ConfigMap by hand, by a JSON merge patch. One that is not there is waited for.
type PatchObject struct{ Name, Patch string }

// DeleteObject deletes a ConfigMap by hand. One that is not there is waited for.
type DeleteObject string

func (PutObject) step()    {}
func (PatchObject) step()  {}
func (DeleteObject) step() {}

func (s PutObject) String() string    { return fmt.Sprintf("create %s, of %q, by hand", s.Name, s.Owner) }
func (s PatchObject) String() string  { return fmt.Sprintf("patch %s with %s", s.Name, s.Patch) }
func (s DeleteObject) String() string { return "delete " + string(s) }

// Object is the ConfigMap that is created.
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

// describes is a ConfigMap for each member, and one for the set. They name the members that the set
// wants now. The templates say what is done with what others have made.
func describes(version int, policy v1.ExistingObjectPolicy) Patch {
	return describesAs("conf", version, policy)
}

func describesAs(template string, version int, policy v1.ExistingObjectPolicy) Patch {
	return Patch(fmt.Sprintf(`{"spec":{"objectTemplates":[
		{"name":%q,"existingPolicy":%q,"object":{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"$(IDENTITY)-conf"},"data":{"version":"%d","member":"$(ORDINAL) of $(REPLICAS)"}}},
		{"name":"all","scope":"Set","existingPolicy":%q,"object":{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"$(SET)-all"},"data":{"version":"%d"}},
			"transforms":[{"path":"/data/quorum","expression":%q}]}]}}`, template, policy, version, policy, version, quorum))
}

// Described is an object that a template of a set describes, as a judge reads it: of what the
// scenarios use, and no more.
type Described struct {
	// Ordinal is that of the member, empty for the set's.
	Template, Ordinal, Name string
	Data                    map[string]string
	// Refused is true if none is to be used that others have made.
	Refused bool
	// Ends is true if it is deleted with the set.
	Ends bool
}

// Describes are the objects of a set, and of all members that it wants, but for Secrets with texts that
// are drawn.
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
		panic("reading a template of a scenario: " + err.Error())
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

// IsOf reports whether an object says that it is a set's, or was that of an earlier one of its name.
func IsOf(set string, object metav1.Object) bool {
	return strings.HasPrefix(object.GetAnnotations()[v1.OwnerAnnotation], set+"/")
}

// Marks says what is wrong with the marks of an object that is made for a set.
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
		return fmt.Sprintf("%s is marked as that of %q, and the set has UID %s", d.Name, owner, set.UID)
	case slices.ContainsFunc(object.GetOwnerReferences(), IsAnchor) != d.Ends, len(object.GetOwnerReferences()) > 1,
		len(object.GetOwnerReferences()) == 1 && !d.Ends:
		return fmt.Sprintf("%s has the owners %v, and goes with the set: %t", d.Name, object.GetOwnerReferences(), d.Ends)
	default:
		return ""
	}
}

// wrongObject says what an object has yet to become, of those that there are.
func (o Observed) wrongObject(d Described) string {
	at := slices.IndexFunc(o.Objects, func(object corev1.ConfigMap) bool { return object.Name == d.Name })
	if at < 0 {
		return fmt.Sprintf("there is no %s", d.Name)
	}
	object := &o.Objects[at]
	switch {
	case object.DeletionTimestamp != nil:
		return d.Name + " is terminating"
	case !IsOf(o.Set.Name, object) && d.Refused:
		return d.Name + " is somebody else's"
	case !IsOf(o.Set.Name, object):
		return ""
	case !maps.Equal(object.Data, d.Data):
		return fmt.Sprintf("%s has %v, want %v", d.Name, object.Data, d.Data)
	default:
		return d.Marks(o.Set, object)
	}
}

// objectsMissing says what is missing of the objects of the set, and of what its status says of them.
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
		return fmt.Sprintf("status has %d templates of objects, want %d", got, want)
	}
	for _, s := range o.Set.Status.ObjectTemplates {
		if s.Present+s.Foreign != s.Wanted || s.Updated != s.Present || s.Retired > 0 {
			return fmt.Sprintf("status says of objects %+v", s)
		}
	}
	return ""
}

// objectLines tell of the objects that the set describes: of others, some may have been made for
// members that were removed meanwhile.
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

// Refusing describes objects, and what others have made may not be used.
func Refusing(version int) Patch { return describes(version, v1.RefuseExistingObject) }

// Refused waits for the set to say that an object is somebody else's.
func Refused() Wait { return Wait{"an object exists that may not be used", notRefused} }

func notRefused(o Observed) string {
	if o.Set == nil {
		return "there is no set"
	}
	if slices.ContainsFunc(o.Set.Status.Conditions, func(c v1.StatefulSetCondition) bool { return c.Reason == v1.ReasonObjectExists }) {
		return ""
	}
	return fmt.Sprintf("status says %+v", o.Set.Status.Conditions)
}
