// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package statefulset

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	v1 "statefulset.dev/api/apps/v1"
	"statefulset.dev/identity"
	"statefulset.dev/identity/render"
)

// What templates of objects may take.
const (
	mostObjectTemplates = 16 // as the tag of the field has it
	mostOfTemplateName  = 40
	mostOfObjects       = 96 << 10
)

// objectsConcerned reports whether anything has changed that objects are made from, in which they
// could collide, or that they have to outlive.
func objectsConcerned(spec, old *v1.StatefulSetSpec) bool {
	return len(spec.ObjectTemplates) > 0 &&
		(!equality.Semantic.DeepEqual(spec.ObjectTemplates, old.ObjectTemplates) || spec.ServiceName != old.ServiceName ||
			!equality.Semantic.DeepEqual(spec.VolumeClaimTemplates, old.VolumeClaimTemplates) ||
			!equality.Semantic.DeepEqual(spec.Identity, old.Identity) || !equality.Semantic.DeepEqual(spec.Overrides, old.Overrides))
}

// validateObjects wants templates of which objects can be made for the first member, the last, and
// the first of overrides, each with a name of its own.
func validateObjects(within *render.Evaluation, set *v1.StatefulSet, path *field.Path) field.ErrorList {
	templates := set.Spec.ObjectTemplates
	if len(templates) == 0 || len(templates) > mostObjectTemplates {
		return nil // the latter is refused by the tag
	}
	at := path.Child("objectTemplates")
	var errs field.ErrorList
	size := 0
	for i := range templates {
		size += templates[i].Size()
		errs = append(errs, validateObjectFields(&templates[i], at.Index(i))...)
		errs = append(errs, validateObjectRetention(&set.Spec, &templates[i], at.Index(i).Child("retention"))...)
	}
	errs = append(errs, validateOutputs(&set.Spec, at)...)
	if size > mostOfObjects {
		errs = append(errs, field.TooLong(at, "", mostOfObjects))
	}
	if len(errs) > 0 {
		return errs
	}
	objects, wrong := identity.OverridesWithin(within, set).Objects()
	if wrong != nil {
		return field.ErrorList{unrendered(wrong, wrong.Detail, path)}
	}
	for i, object := range objects {
		if wrong := object.Check(); len(wrong) > 0 {
			errs = append(errs, unrendered(wrong[0], wrong[0].Detail, path))
			continue
		}
		errs = append(errs, validateManifest(object, at.Index(i))...)
	}
	for i, object := range objects {
		errs = append(errs, validateSecretTransforms(object, at.Index(i).Child("transforms"))...)
		errs = append(errs, validateSecretOutputs(object, at.Index(i).Child("outputs"))...)
		errs = append(errs, validateGenerate(object, at.Index(i))...)
	}
	if len(errs) > 0 {
		return errs
	}
	return validateMadeObjects(set, objects, path)
}

func validateObjectFields(t *v1.ObjectTemplate, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	switch {
	case len(t.Name) > mostOfTemplateName:
		errs = append(errs, field.TooLong(path.Child("name"), t.Name, mostOfTemplateName))
	case t.Name != "": // if it is, the tag refuses it
		errs = append(errs, invalid(path.Child("name"), t.Name, validation.IsDNS1123Label(t.Name))...)
	}
	scopes := []v1.ObjectScope{v1.MemberObjectScope, v1.SetObjectScope}
	if t.Scope != "" && !slices.Contains(scopes, t.Scope) {
		errs = append(errs, field.NotSupported(path.Child("scope"), t.Scope, scopes))
	}
	policies := []v1.ExistingObjectPolicy{v1.UseExistingObject, v1.RefuseExistingObject}
	if t.ExistingPolicy != "" && !slices.Contains(policies, t.ExistingPolicy) {
		errs = append(errs, field.NotSupported(path.Child("existingPolicy"), t.ExistingPolicy, policies))
	}
	for i, transform := range t.Transforms {
		if transform.Path == "" {
			errs = append(errs, field.Required(path.Child("transforms").Index(i).Child("path"), ""))
		}
		if transform.Expression == "" {
			errs = append(errs, field.Required(path.Child("transforms").Index(i).Child("expression"), ""))
		}
	}
	return errs
}

// validateManifest looks at what a template says before it is rendered.
func validateManifest(object identity.Object, path *field.Path) field.ErrorList {
	at, kind := path.Child("object"), object.Kind()
	var errs field.ErrorList
	switch {
	case kind.Version == "":
		errs = append(errs, field.Required(at.Child("apiVersion"), ""))
	case kind.Kind == "":
		errs = append(errs, field.Required(at.Child("kind"), ""))
	case !wellFormedKind.MatchString(kind.Kind) || strings.HasSuffix(kind.Kind, "List"):
		errs = append(errs, field.Invalid(at.Child("kind"), kind.Kind, "must be a kind of single objects"))
	case kind.Group != "" && len(validation.IsDNS1123Subdomain(kind.Group)) > 0, len(validation.IsDNS1035Label(kind.Version)) > 0:
		errs = append(errs, field.Invalid(at.Child("apiVersion"), kind.GroupVersion().String(), "must be a version, or a group and a version"))
	case neverMade(kind):
		errs = append(errs, field.Forbidden(at.Child("kind"), "never made by a set"))
	}
	name, named := object.Pattern(), at.Child("metadata", "name")
	const identityName, ordinalName = "$(" + render.Identity + ")", "$(" + render.Ordinal + ")"
	switch {
	case name == "":
		errs = append(errs, field.Required(named, ""))
	case object.ForSet() && (strings.Contains(name, identityName) || strings.Contains(name, ordinalName)):
		errs = append(errs, field.Invalid(named, name, "must not contain $(IDENTITY) or $(ORDINAL)"))
	case !object.ForSet() && !strings.Contains(strings.ReplaceAll(name, "$"+identityName, ""), identityName):
		errs = append(errs, field.Invalid(named, name, "must contain $(IDENTITY), or members, and sets, could share one object"))
	}
	return errs
}

var wellFormedKind = regexp.MustCompile(`^[A-Z][A-Za-z0-9]{0,62}$`)

// validateMadeObjects tries what the objects of members are.
func validateMadeObjects(set *v1.StatefulSet, objects []identity.Object, path *field.Path) field.ErrorList {
	makers := map[identity.ObjectKey]string{}
	for i, object := range objects {
		for n, ordinal := range triedMembers(set) {
			if object.ForSet() && n > 0 {
				break
			}
			at := path.Child("objectTemplates").Index(i).Child("object")
			made, wrong := object.Make(ordinal)
			if wrong != nil {
				return field.ErrorList{unrendered(wrong, fmt.Sprintf("for ordinal %d: %s", ordinal, wrong.Detail), path)}
			}
			key := object.Key(ordinal)
			if other := makers[key]; other != "" {
				return field.ErrorList{field.Duplicate(at, key.Kind+"/"+key.Name), field.Forbidden(at, fmt.Sprintf("also rendered by %q", other))}
			}
			makers[key] = object.Template().Name
			if errs := validateMade(made, object, at); len(errs) > 0 {
				return errs
			}
		}
	}
	return nil
}

// validateMade wants an object that a set may have, of one name in one namespace.
func validateMade(made *unstructured.Unstructured, object identity.Object, path *field.Path) field.ErrorList {
	errs := field.ErrorList{}
	manifest := object.Manifest()
	written, _ := manifest["metadata"].(map[string]any)
	for _, name := range []string{"namespace", "generateName", "ownerReferences", "uid", "resourceVersion", "generation", "creationTimestamp",
		"managedFields", "finalizers", "deletionTimestamp"} {
		if _, has := written[name]; has {
			errs = append(errs, field.Forbidden(path.Child("metadata", name), "belongs to the set, or to the host"))
		}
	}
	for _, name := range []string{"labels", "annotations"} {
		values, _, err := unstructured.NestedStringMap(made.Object, "metadata", name)
		if err != nil {
			errs = append(errs, field.Invalid(path.Child("metadata", name), "", "must be text by keys"))
		}
		plain, _ := written[name].(map[string]any)
		for key := range plain {
			if identity.IsReserved(key) {
				errs = append(errs, field.Forbidden(path.Child("metadata", name).Key(key), "belongs to the set"))
			}
		}
		for key, value := range values {
			if name == "labels" {
				errs = append(errs, invalid(path.Child("metadata", name).Key(key), value, validation.IsValidLabelValue(value))...)
			}
		}
	}
	if _, has := made.Object["status"]; has {
		errs = append(errs, field.Forbidden(path.Child("status"), "belongs to the host"))
	}
	errs = append(errs, invalid(path.Child("metadata", "name"), made.GetName(), validation.IsDNS1123Subdomain(made.GetName()))...)
	if object.Kind().Group == "" && object.Kind().Kind == "Secret" {
		errs = append(errs, validateSecret(manifest, path)...)
	}
	if _, has, _ := unstructured.NestedFieldNoCopy(made.Object, "spec", "ttlSecondsAfterFinished"); has && object.Kind().Group == "batch" {
		errs = append(errs, field.Forbidden(path.Child("spec", "ttlSecondsAfterFinished"), "the Job would be made and run again"))
	}
	return errs
}
