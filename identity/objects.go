// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package identity

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	v1 "statefulset.dev/api/apps/v1"
	"statefulset.dev/identity/render"
)

// ObjectManager is the manager of the fields of objects that templates describe.
const ObjectManager = "statefulset-apiserver"

// ObjectKey is what an object in the namespace of a set is known by, whatever its version.
type ObjectKey struct{ Group, Kind, Name string }

// GroupKind is the kind of the object.
func (k ObjectKey) GroupKind() schema.GroupKind {
	return schema.GroupKind{Group: k.Group, Kind: k.Kind}
}

// String is how people are told of it.
func (k ObjectKey) String() string { return k.Kind + " " + k.Name }

// Object is a template of objects of a set.
type Object struct {
	*render.Object

	overrides *Overrides
	// stays is true if the objects do not go with the set, whatever the template says.
	stays bool
}

// Objects are the templates of objects of the set, or what is wrong with the first that is none.
func (o *Overrides) Objects() ([]Object, *render.Error) {
	if len(o.set.Spec.ObjectTemplates) == 0 {
		return nil, nil
	}
	source := o.renderSource(o.set.Spec.Identity)
	all := make([]Object, 0, len(o.set.Spec.ObjectTemplates))
	for i := range o.set.Spec.ObjectTemplates {
		object, wrong := render.NewObject(source, &o.set.Spec.ObjectTemplates[i], fmt.Sprintf("objectTemplates[%d]", i))
		if wrong != nil {
			return nil, wrong
		}
		all = append(all, Object{Object: object, overrides: o})
	}
	return all, nil
}

// Key is what the object of a member is known by. For one of the set the ordinal says nothing.
func (o Object) Key(ordinal int) ObjectKey {
	return ObjectKey{o.Kind().Group, o.Kind().Kind, o.Name(o.overrides.member(ordinal))}
}

// Digest is one of all that the object of a member is made from, and of whether it belongs to the
// set's anchor.
func (o Object) Digest(ordinal int) string {
	return o.WithOwner(o.Inputs(o.overrides.member(ordinal)))
}

// Staying is the template with objects that stay when the set is deleted, whatever it says.
func (o Object) Staying() Object {
	o.stays = true
	return o
}

// GoesWithSet reports whether the objects are deleted with the set.
func (o Object) GoesWithSet() bool { return o.Template().DeletesWithSet() && !o.stays }

// WithOwner is a digest that tells whether the object belongs to the set's anchor as it is to do now,
// whatever it told before.
func (o Object) WithOwner(digest string) string {
	inputs := strings.TrimSuffix(digest, "."+anchored)
	if o.GoesWithSet() {
		inputs += "." + anchored
	}
	return inputs
}

// Make is the object of a member, with what marks it as the set's.
func (o Object) Make(ordinal int) (*unstructured.Unstructured, *render.Error) {
	tree, wrong := o.Render(o.overrides.member(ordinal))
	if wrong != nil {
		return nil, wrong
	}
	made := &unstructured.Unstructured{Object: tree}
	made.SetNamespace(o.overrides.set.Namespace)
	labels := made.GetLabels()
	if labels == nil {
		labels = map[string]string{}
	}
	for _, key := range SelectedKeys(o.overrides.set.Spec.Selector) {
		if value, has := o.overrides.set.Spec.Template.Labels[key]; has {
			labels[key] = value
		}
	}
	labels[v1.ObjectSetLabel], labels[v1.ObjectTemplateLabel] = o.overrides.set.Name, o.Template().Name
	if !o.ForSet() {
		labels[v1.ObjectOrdinalLabel] = strconv.Itoa(ordinal)
	}
	made.SetLabels(labels)
	annotations := made.GetAnnotations()
	if annotations == nil {
		annotations = map[string]string{}
	}
	annotations[v1.OwnerAnnotation], annotations[v1.ObjectInputsAnnotation] = OwnerMark(o.overrides.set), o.Digest(ordinal)
	made.SetAnnotations(annotations)
	return made, nil
}

// OutputsNamedBy are the outputs of the set's objects that the pods of a rendered template read, in
// the order of the templates of objects.
func (o *Overrides) OutputsNamedBy(template *corev1.PodTemplateSpec) (names []string) {
	for _, name := range outputs(o.set) {
		if _, reads := template.Annotations[v1.OutputAnnotationPrefix+name]; reads {
			names = append(names, name)
		}
	}
	return names
}

// WithOutputs is a pod that reads outputs of objects, with their values. It shares with the pod all but
// its annotations.
func WithOutputs(pod *corev1.Pod, values map[string]string) *corev1.Pod {
	if len(values) == 0 {
		return pod
	}
	told := *pod
	told.Annotations = maps.Clone(pod.Annotations)
	for name, value := range values {
		told.Annotations[v1.OutputAnnotationPrefix+name] = value
	}
	return &told
}

// outputs are the names of all outputs of a set.
func outputs(set *v1.StatefulSet) (names []string) {
	for i := range set.Spec.ObjectTemplates {
		for _, output := range set.Spec.ObjectTemplates[i].Outputs {
			names = append(names, output.Name)
		}
	}
	return names
}

// OwnerMark is what objects and claims of a set say of whose they are, in v1.OwnerAnnotation.
func OwnerMark(set metav1.Object) string { return set.GetName() + "/" + string(set.GetUID()) }

// MostObjectKinds is how many kinds of objects all sets together may describe: each is watched in the host.
const MostObjectKinds = 100

// ObjectKinds are the kinds of the objects that a set describes, in the order of its templates, then
// those of removed templates whose objects are to be deleted; and of one in several versions the first.
func ObjectKinds(set *v1.StatefulSet) []schema.GroupVersionKind {
	var kinds []schema.GroupVersionKind
	add := func(kind schema.GroupVersionKind) {
		if !slices.ContainsFunc(kinds, func(other schema.GroupVersionKind) bool { return other.GroupKind() == kind.GroupKind() }) {
			kinds = append(kinds, kind)
		}
	}
	for i := range set.Spec.ObjectTemplates {
		manifest, wrong := render.ReadManifest(set.Spec.ObjectTemplates[i].Object.Raw, "")
		if wrong != nil || manifest.Kind.Kind == "" {
			continue // refused where it is written
		}
		add(manifest.Kind)
	}
	for _, removed := range RemovedTemplates(&set.Status) {
		add(RemovedKind(removed))
	}
	return kinds
}
