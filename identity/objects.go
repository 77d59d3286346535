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

// ObjectManager is the field manager of objects of templates.
const ObjectManager = "statefulset-apiserver"

// ObjectKey identifies an object in the namespace of a set, in any version.
type ObjectKey struct{ Group, Kind, Name string }

// GroupKind is the kind of the object.
func (k ObjectKey) GroupKind() schema.GroupKind {
	return schema.GroupKind{Group: k.Group, Kind: k.Kind}
}

// String names the object in messages.
func (k ObjectKey) String() string { return k.Kind + " " + k.Name }

// Object is a template of objects of a set.
type Object struct {
	*render.Object

	overrides *Overrides
	// stays is true if the objects are not deleted with the set, whatever the template says.
	stays bool
}

// Objects returns the object templates of the set, or the error in the first invalid one.
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

// Key identifies the object of a member. For an object of the set, the ordinal has no effect.
func (o Object) Key(ordinal int) ObjectKey {
	return ObjectKey{o.Kind().Group, o.Kind().Kind, o.Name(o.overrides.member(ordinal))}
}

// Digest is a digest of everything from which the object of a member is rendered, and of whether
// the anchor of the set owns it.
func (o Object) Digest(ordinal int) string {
	return o.WithOwner(o.Inputs(o.overrides.member(ordinal)))
}

// Staying returns the template with objects that are kept when the set is deleted, whatever the
// template says.
func (o Object) Staying() Object {
	o.stays = true
	return o
}

// GoesWithSet reports whether the objects are deleted with the set.
func (o Object) GoesWithSet() bool { return o.Template().DeletesWithSet() && !o.stays }

// WithOwner returns the digest, changed to record whether the anchor of the set should own the
// object now.
func (o Object) WithOwner(digest string) string {
	inputs := strings.TrimSuffix(digest, "."+anchored)
	if o.GoesWithSet() {
		inputs += "." + anchored
	}
	return inputs
}

// Make renders the object of a member, with the labels and annotations that mark it as an object of
// the set.
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

// OutputsNamedBy are the outputs of the set's objects that pods of a rendered template read, in the
// order of the object templates.
func (o *Overrides) OutputsNamedBy(template *corev1.PodTemplateSpec) (names []string) {
	for _, name := range outputs(o.set) {
		if _, reads := template.Annotations[v1.OutputAnnotationPrefix+name]; reads {
			names = append(names, name)
		}
	}
	return names
}

// WithOutputs returns a pod with the values of outputs that it reads. It shares everything with the
// pod except its annotations.
func WithOutputs(pod *corev1.Pod, values map[string]string) *corev1.Pod {
	if len(values) == 0 {
		return pod
	}
	annotatedPod := *pod
	annotatedPod.Annotations = maps.Clone(pod.Annotations)
	for name, value := range values {
		annotatedPod.Annotations[v1.OutputAnnotationPrefix+name] = value
	}
	return &annotatedPod
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

// OwnerMark is the value of v1.OwnerAnnotation on objects and claims of a set.
func OwnerMark(set metav1.Object) string { return set.GetName() + "/" + string(set.GetUID()) }

// MostObjectKinds is the maximum number of kinds of objects of all sets together. Each kind is
// watched in the host cluster.
const MostObjectKinds = 100

// ObjectKinds are the kinds of the objects of a set, in the order of its templates, and then those
// of removed templates whose objects will be deleted. Of a kind in several versions, it has the
// first version.
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
			continue // validation rejects it
		}
		add(manifest.Kind)
	}
	for _, removed := range RemovedTemplates(&set.Status) {
		add(RemovedKind(removed))
	}
	return kinds
}
