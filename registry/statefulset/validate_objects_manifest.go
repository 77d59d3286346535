// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package statefulset

import (
	"bytes"
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/util/validation/field"

	v1 "statefulset.dev/api/apps/v1"
	"statefulset.dev/identity"
	"statefulset.dev/identity/render"
)

// validateManifestKeys refuses manifests that two programs could read in two ways. old is nil if the set
// is new. A manifest that was stored before this rule stays valid as long as it says the same. Too many
// templates, and too long ones, are refused elsewhere, and not read here.
func validateManifestKeys(set, old *v1.StatefulSet, path *field.Path) field.ErrorList {
	templates := set.Spec.ObjectTemplates
	if len(templates) > mostObjectTemplates {
		return nil
	}
	size := 0
	for i := range templates {
		size += templates[i].Size()
	}
	if size > mostOfObjects {
		return nil
	}
	var errs field.ErrorList
	for i := range templates {
		raw, in := templates[i].Object.Raw, fmt.Sprintf("objectTemplates[%d].object", i)
		if wrong := render.CheckKeys(raw, in); wrong != nil && !storedBefore(&templates[i], old) {
			errs = append(errs, unrendered(wrong, wrong.Detail, path))
		}
	}
	return errs
}

// storedBefore reports whether the old set has the manifest of a template with bad keys already. An update
// of other fields may write its keys in another order.
func storedBefore(template *v1.ObjectTemplate, old *v1.StatefulSet) bool {
	if old == nil {
		return false
	}
	at := slices.IndexFunc(old.Spec.ObjectTemplates, func(t v1.ObjectTemplate) bool { return t.Name == template.Name })
	if at < 0 {
		return false
	}
	was := old.Spec.ObjectTemplates[at].Object.Raw
	return bytes.Equal(was, template.Object.Raw) || identity.SameManifest(was, template.Object.Raw) && render.CheckKeys(was, "") != nil
}
