// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package statefulset

import (
	"k8s.io/apimachinery/pkg/util/validation/field"

	v1 "statefulset.dev/api/apps/v1"
	"statefulset.dev/identity"
	"statefulset.dev/identity/render"
)

// validateRaised wants objects that are made from the list of members to be possible with more of
// them, if they were with those that there are: what a list of any length may cost is not known when
// the template is written.
func validateRaised(within *render.Evaluation, set, old *v1.StatefulSet, path *field.Path) field.ErrorList {
	replicas := identity.OrdinalsOf(set).Len()
	if replicas <= identity.OrdinalsOf(old).Len() {
		return nil
	}
	wrong := wrongWithMembers(within, set)
	if wrong == nil || wrongWithMembers(within, old) != nil {
		return nil
	}
	return field.ErrorList{field.Invalid(path.Child("replicas"), replicas, wrong.Error())}
}

// wrongWithMembers is what is wrong with the first objects that list the members, nil if nothing is.
func wrongWithMembers(within *render.Evaluation, set *v1.StatefulSet) *render.Error {
	objects, _ := identity.OverridesWithin(within, set).Objects()
	for _, object := range objects {
		if !object.ListsMembers() {
			continue
		}
		if wrong := object.Check(); len(wrong) > 0 {
			return wrong[0]
		}
		if _, wrong := object.Make(triedMembers(set)[0]); wrong != nil {
			return wrong
		}
	}
	return nil
}
