// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package identity

import (
	"bytes"
	"reflect"

	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/runtime"

	v1 "statefulset.dev/api/apps/v1"
	"statefulset.dev/identity/render"
)

// ChangedObjectTemplates are the indices of templates of a set that render other objects than in
// the old set, or objects of other members. If an input of all templates differs, they are all
// included; the number of replicas is not such an input. old is nil if the set is new.
func ChangedObjectTemplates(set, old *v1.StatefulSet) (changed []int) {
	if len(set.Spec.ObjectTemplates) == 0 {
		return nil
	}
	before := map[string]*v1.ObjectTemplate{}
	if old != nil && equality.Semantic.DeepEqual(objectInputsOf(set), objectInputsOf(old)) {
		for i := range old.Spec.ObjectTemplates {
			before[old.Spec.ObjectTemplates[i].Name] = &old.Spec.ObjectTemplates[i]
		}
	}
	for i := range set.Spec.ObjectTemplates {
		template := &set.Spec.ObjectTemplates[i]
		if was := before[template.Name]; was == nil || !sameTemplate(template, was) {
			changed = append(changed, i)
		}
	}
	return changed
}

// objectInputs are the inputs of all objects of a set, except their templates and the number of
// replicas. The name, the namespace and the UID of the set never change.
type objectInputs struct {
	ServiceName string
	Identity    *v1.MemberIdentity
	Overrides   []v1.MemberOverride
	Ordinals    *v1.StatefulSetOrdinals
	// Marks are the labels in the set's selector, which objects get, too.
	Marks map[string]string
}

func objectInputsOf(set *v1.StatefulSet) objectInputs {
	inputs := objectInputs{
		ServiceName: set.Spec.ServiceName, Identity: set.Spec.Identity, Overrides: set.Spec.Overrides, Ordinals: set.Spec.Ordinals,
		Marks: map[string]string{},
	}
	for _, key := range SelectedKeys(set.Spec.Selector) {
		if value, has := set.Spec.Template.Labels[key]; has {
			inputs.Marks[key] = value
		}
	}
	return inputs
}

// sameTemplate reports whether two templates have the same meaning. Clients may write the fields of
// a manifest in another order.
func sameTemplate(a, b *v1.ObjectTemplate) bool {
	if equality.Semantic.DeepEqual(a, b) {
		return true
	}
	plainA, plainB := *a, *b
	plainA.Object, plainB.Object = runtime.RawExtension{}, runtime.RawExtension{}
	return equality.Semantic.DeepEqual(plainA, plainB) && SameManifest(a.Object.Raw, b.Object.Raw)
}

// SameManifest reports whether two manifests have the same meaning.
func SameManifest(a, b []byte) bool {
	if bytes.Equal(a, b) {
		return true
	}
	ofA, wrongA := render.ReadManifest(a, "")
	ofB, wrongB := render.ReadManifest(b, "")
	return wrongA == nil && wrongB == nil && reflect.DeepEqual(ofA, ofB)
}
