// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package statefulset

import (
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/util/validation/field"

	v1 "statefulset.dev/api/apps/v1"
	"statefulset.dev/identity"
)

// mostDrainSeconds is for how long a member may be out of service before it is restarted.
const mostDrainSeconds = 3600

// validateInPlace wants a policy that there is, and a time that people would wait for.
func validateInPlace(update *v1.InPlaceUpdate, path *field.Path) field.ErrorList {
	valid := []v1.InPlaceUpdatePolicyType{v1.IfPossibleInPlaceUpdatePolicyType, v1.OnlyInPlaceUpdatePolicyType}
	if update == nil {
		return nil
	}
	var errs field.ErrorList
	if update.Policy != "" && !slices.Contains(valid, update.Policy) { // none is refused by the tag
		errs = append(errs, field.NotSupported(path.Child("policy"), update.Policy, valid))
	}
	if drain := update.DrainSeconds; drain != nil && (*drain < 0 || *drain > mostDrainSeconds) {
		errs = append(errs, field.Invalid(path.Child("drainSeconds"), *drain, fmt.Sprintf("must be 0 to %d", mostDrainSeconds)))
	}
	return errs
}

// inPlaceImpossible warns of a template that no member can be given, because that would take
// another pod, and the set forbids that.
func inPlaceImpossible(set, old *v1.StatefulSet) []string {
	rolling := set.Spec.UpdateStrategy.RollingUpdate
	if rolling == nil || rolling.InPlace == nil || rolling.InPlace.Policy != v1.OnlyInPlaceUpdatePolicyType {
		return nil
	}
	change := identity.ChangeInPlace(&old.Spec.Template, &set.Spec.Template, true)
	if change.Prevented == "" {
		return nil
	}
	return []string{
		fmt.Sprintf(
			"spec.updateStrategy.rollingUpdate.inPlace.policy: %s keeps members from the changed template: %s, and that cannot be changed in place; delete their pods to have them recreated, or set %s",
			v1.OnlyInPlaceUpdatePolicyType, change.Prevented, v1.IfPossibleInPlaceUpdatePolicyType)}
}
