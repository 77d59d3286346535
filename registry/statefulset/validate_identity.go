// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package statefulset

import (
	"fmt"
	"maps"
	"slices"

	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apimachinery/pkg/util/validation/field"

	v1 "statefulset.dev/api/apps/v1"
	"statefulset.dev/identity"
	"statefulset.dev/identity/render"
)

// The limits of values, and the maximum number of members for which the templates are rendered.
const (
	mostValues       = 100
	mostOfValue      = 4096
	mostTransforms   = 32 // the limit in the tag of the field
	renderedMembers  = 12
	parameterPattern = "must have at most 63 upper-case letters, digits and underscores, and begin with a letter"
)

// identityInputsChanged reports whether a template, or an input of its rendering, has changed.
func identityInputsChanged(spec, old *v1.StatefulSetSpec) bool {
	return spec.Identity != nil && (templateInputsChanged(spec, old) || spec.ServiceName != old.ServiceName ||
		!equality.Semantic.DeepEqual(spec.Identity, old.Identity) || !equality.Semantic.DeepEqual(spec.Overrides, old.Overrides) ||
		!slices.Equal(outputNames(spec), outputNames(old)))
}

// validateIdentity requires known parameters, and templates that can be rendered for the first
// member, the last one, and the first members of overrides.
func validateIdentity(within *render.Evaluation, set *v1.StatefulSet, path *field.Path) field.ErrorList {
	spec := &set.Spec
	if spec.Identity == nil || len(spec.Identity.Transforms) > mostTransforms {
		return nil // the tag rejects too many transforms
	}
	at := path.Child("identity")
	errs := validateParameters(spec, at.Child("env"))
	errs = append(errs, validateValues(spec.Identity.Values, at.Child("values"))...)
	for i, t := range spec.Identity.Transforms {
		if t.Path == "" {
			errs = append(errs, field.Required(at.Child("transforms").Index(i).Child("path"), ""))
		}
		if t.Expression == "" {
			errs = append(errs, field.Required(at.Child("transforms").Index(i).Child("expression"), ""))
		}
	}
	if len(errs) > 0 {
		return errs
	}
	reserved := validateReservedPaths(spec.Identity.Transforms, at.Child("transforms"))
	overrides := identity.OverridesWithin(within, set)
	for _, wrong := range overrides.CheckTransforms() {
		errs = append(errs, unrendered(wrong, wrong.Detail, path))
	}
	if len(errs) > 0 {
		return append(reserved, errs...)
	}
	return append(reserved, validateRendered(set, overrides, path)...)
}

// validateReservedPaths rejects transforms that set reserved keys. In a stored transform, an
// annotation with such a key has no effect.
func validateReservedPaths(transforms []v1.Transform, path *field.Path) (errs field.ErrorList) {
	for i, t := range transforms {
		if key := render.ReservedKey(t.Path); key != "" {
			errs = append(errs, field.Invalid(path.Index(i).Child("path"), t.Path,
				fmt.Sprintf("the controller sets key %q; use a key of another domain", key)))
		}
	}
	return errs
}

// validateParameters requires the names of known parameters.
func validateParameters(spec *v1.StatefulSetSpec, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	known, taken := sets.New(render.BuiltIn()...).Union(sets.KeySet(spec.Identity.Values)).Insert(outputNames(spec)...), sets.New[string]()
	for i, name := range spec.Identity.Env {
		switch {
		case !known.Has(name):
			errs = append(errs, field.NotSupported(path.Index(i), name, sets.List(known)))
		case spec.ServiceName == "" && (name == render.Service || name == render.DNSName):
			errs = append(errs, field.Invalid(path.Index(i), name, "needs spec.serviceName"))
		case taken.Has(name):
			errs = append(errs, field.Duplicate(path.Index(i), name))
		}
		taken.Insert(name)
	}
	return errs
}

func validateValues(values map[string]string, path *field.Path) field.ErrorList {
	if len(values) > mostValues {
		return field.ErrorList{field.TooMany(path, len(values), mostValues)}
	}
	var errs field.ErrorList
	for _, name := range slices.Sorted(maps.Keys(values)) {
		switch at := path.Key(name); {
		case !render.IsName(name):
			errs = append(errs, field.Invalid(at, name, parameterPattern))
		case slices.Contains(render.BuiltIn(), name):
			errs = append(errs, field.Forbidden(at, "is a built-in parameter"))
		case len(values[name]) > mostOfValue:
			errs = append(errs, field.TooLong(at, "", mostOfValue))
		}
	}
	return errs
}

// validateOverrideValues requires values with a default, for members without an override.
func validateOverrideValues(values map[string]string, of *v1.MemberIdentity, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	for _, name := range slices.Sorted(maps.Keys(values)) {
		switch at := path.Key(name); {
		case of == nil:
			errs = append(errs, field.Forbidden(at, "needs spec.identity"))
		case !sets.KeySet(of.Values).Has(name):
			errs = append(errs, field.NotFound(at, name))
		case len(values[name]) > mostOfValue:
			errs = append(errs, field.TooLong(at, "", mostOfValue))
		}
	}
	return errs
}

// validateRendered renders the templates for some members.
func validateRendered(set *v1.StatefulSet, overrides *identity.Overrides, path *field.Path) field.ErrorList {
	for _, ordinal := range triedMembers(set) {
		if _, wrong := overrides.Rendered(identity.SourceOf(set), ordinal); wrong != nil {
			return field.ErrorList{unrendered(wrong, fmt.Sprintf("for ordinal %d: %s", ordinal, wrong.Detail), path)}
		}
		for i := range set.Spec.VolumeClaimTemplates {
			if _, wrong := overrides.RenderedClaimTemplate(i, ordinal); wrong != nil {
				return field.ErrorList{unrendered(wrong, fmt.Sprintf("for ordinal %d: %s", ordinal, wrong.Detail), path)}
			}
		}
	}
	return nil
}

// triedMembers are the first member, the last one, and the first members of the first overrides.
func triedMembers(set *v1.StatefulSet) []int {
	roster := identity.OrdinalsOf(set)
	tried := []int{roster.First()}
	if last, any := roster.Last(); any && last != roster.First() {
		tried = append(tried, last)
	}
	for i := range set.Spec.Overrides {
		if ordinals := set.Spec.Overrides[i].Ordinals; len(ordinals) > 0 && ordinals[0].First >= 0 && len(tried) < renderedMembers {
			tried = append(tried, int(ordinals[0].First))
		}
	}
	return tried
}

// unrendered converts an error of rendering to a field error.
func unrendered(wrong *render.Error, detail string, path *field.Path) *field.Error {
	at := path.Child(wrong.In)
	if wrong.Field != "" {
		at = at.Child(wrong.Field)
	}
	if wrong.Forbidden {
		return field.Forbidden(at, wrong.Detail)
	}
	return field.Invalid(at, wrong.Value, detail)
}

// unnamed warns about names that look like parameters but are unknown, where parameters are
// replaced.
func unnamed(set, old *v1.StatefulSet) (texts []string) {
	if set.Spec.Identity != nil && (old == nil || identityInputsChanged(&set.Spec, &old.Spec)) {
		texts = identity.OverridesOf(set).UnknownNames(mostUnmounted)
	}
	if len(set.Spec.ObjectTemplates) == 0 || old != nil && !objectInputsChanged(&set.Spec, &old.Spec) {
		return texts
	}
	objects, _ := identity.OverridesOf(set).Objects() // validation rejects invalid ones
	var ofObjects []string
	for _, object := range objects {
		ofObjects = append(ofObjects, object.Unknown(mostUnmounted-len(ofObjects))...)
	}
	return append(texts, ofObjects...)
}
