// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package statefulset

import (
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apimachinery/pkg/util/validation/field"

	v1 "statefulset.dev/api/apps/v1"
	"statefulset.dev/identity"
	"statefulset.dev/identity/render"
)

// The limits of the outputs of a set. The names of outputs are part of annotation keys, which end
// with a letter or a digit.
const (
	mostOutputs      = 8
	mostOfOutputName = 40
	outputPattern    = "must have at most 40 upper-case letters, digits and underscores, begin with a letter, and not end with an underscore"
)

// outputNames are the names of the outputs of all object templates.
func outputNames(spec *v1.StatefulSetSpec) (names []string) {
	for i := range spec.ObjectTemplates {
		for _, output := range spec.ObjectTemplates[i].Outputs {
			names = append(names, output.Name)
		}
	}
	return names
}

// validateOutputs requires unique names. The expressions are validated with the templates.
func validateOutputs(spec *v1.StatefulSetSpec, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	if n := len(outputNames(spec)); n > mostOutputs {
		errs = append(errs, field.TooMany(path, n, mostOutputs))
	}
	taken := sets.New[string]()
	for i := range spec.ObjectTemplates {
		for j, output := range spec.ObjectTemplates[i].Outputs {
			at := path.Index(i).Child("outputs").Index(j).Child("name")
			switch name := output.Name; {
			case name == "": // the tag rejects it
			case !render.IsName(name) || len(name) > mostOfOutputName || strings.HasSuffix(name, "_"):
				errs = append(errs, field.Invalid(at, name, outputPattern))
			case slices.Contains(render.BuiltIn(), name) || spec.Identity != nil && sets.KeySet(spec.Identity.Values).Has(name):
				errs = append(errs, field.Invalid(at, name, "is the name of a parameter"))
			case taken.Has(name):
				errs = append(errs, field.Duplicate(at, name))
			}
			taken.Insert(output.Name)
		}
	}
	return errs
}

// validateSecretOutputs rejects outputs of Secrets, so that secret values stay where they are.
func validateSecretOutputs(object identity.Object, path *field.Path) field.ErrorList {
	if len(object.Template().Outputs) == 0 || object.Kind().GroupKind() != (schema.GroupKind{Kind: "Secret"}) {
		return nil
	}
	return field.ErrorList{field.Forbidden(path, "not allowed for Secrets")}
}

// validateRemovedOutputs rejects the removal of an output that a recreated pod may name: a revision
// names outputs, but does not record where their values come from.
func validateRemovedOutputs(within *render.Evaluation, set, old *v1.StatefulSet, path *field.Path) field.ErrorList {
	if old.Spec.Identity == nil || identity.OrdinalsOf(old).Len() == 0 {
		return nil
	}
	kept := outputNames(&set.Spec)
	gone := slices.DeleteFunc(outputNames(&old.Spec), func(name string) bool { return slices.Contains(kept, name) })
	if len(gone) == 0 {
		return nil
	}
	const then = "; remove an output only after the end of an update after which no pod names it"
	named := namedOutputs(within, old)
	for _, name := range gone {
		if slices.Contains(named, name) {
			return field.ErrorList{
				field.Forbidden(path, fmt.Sprintf("output %q is removed, but the stored pod template names it%s", name, then))}
		}
	}
	if status := &old.Status; status.ObservedGeneration != old.Generation || status.CurrentRevision != status.UpdateRevision {
		return field.ErrorList{field.Forbidden(path,
			fmt.Sprintf("output %q is removed, but the revision from which the current update started may name it%s", gone[0], then))}
	}
	return nil
}

// namedOutputs are the outputs that the pods of a set name. It checks only the members that are
// tried.
func namedOutputs(within *render.Evaluation, set *v1.StatefulSet) (names []string) {
	overrides := identity.OverridesWithin(within, set)
	for _, ordinal := range triedMembers(set) {
		if template, wrong := overrides.Rendered(identity.SourceOf(set), ordinal); wrong == nil {
			names = append(names, overrides.OutputsNamedBy(template)...)
		}
	}
	return names
}

// unused warns about outputs that no pod can name.
func unused(set, old *v1.StatefulSet) []string {
	if set.Spec.Identity != nil || len(outputNames(&set.Spec)) == 0 ||
		old != nil && old.Spec.Identity == nil && slices.Equal(outputNames(&set.Spec), outputNames(&old.Spec)) {
		return nil
	}
	return []string{"spec.objectTemplates: outputs have no effect without spec.identity, which lets pods name them; an empty block is sufficient"}
}
