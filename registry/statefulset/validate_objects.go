// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package statefulset

import (
	"bytes"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	v1 "statefulset.dev/api/apps/v1"
	"statefulset.dev/identity"
	"statefulset.dev/identity/render"
)

// The limits of object templates.
const (
	mostObjectTemplates = 16 // the limit in the tag of the field
	mostOfTemplateName  = 40
	mostOfObjects       = 96 << 10
)

// objectInputsChanged reports whether anything has changed from which objects are rendered, with
// which they could collide, or that they must outlive.
func objectInputsChanged(spec, old *v1.StatefulSetSpec) bool {
	return len(spec.ObjectTemplates) > 0 &&
		(!equality.Semantic.DeepEqual(spec.ObjectTemplates, old.ObjectTemplates) || spec.ServiceName != old.ServiceName ||
			!equality.Semantic.DeepEqual(spec.VolumeClaimTemplates, old.VolumeClaimTemplates) ||
			!equality.Semantic.DeepEqual(spec.Identity, old.Identity) || !equality.Semantic.DeepEqual(spec.Overrides, old.Overrides))
}

// validateObjects requires templates that can be rendered for the first member, the last one, and
// the first members of overrides, each with a different name.
func validateObjects(within *render.Evaluation, set *v1.StatefulSet, path *field.Path) field.ErrorList {
	templates := set.Spec.ObjectTemplates
	if len(templates) == 0 || len(templates) > mostObjectTemplates {
		return nil // the tag rejects too many templates
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
	return validateRenderedObjects(set, objects, path)
}

func validateObjectFields(t *v1.ObjectTemplate, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	switch {
	case len(t.Name) > mostOfTemplateName:
		errs = append(errs, field.TooLong(path.Child("name"), t.Name, mostOfTemplateName))
	case t.Name != "": // the tag rejects an empty name
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

// validateManifest validates a manifest before it is rendered.
func validateManifest(object identity.Object, path *field.Path) field.ErrorList {
	at, kind := path.Child("object"), object.Kind()
	var errs field.ErrorList
	switch {
	case kind.Version == "":
		errs = append(errs, field.Required(at.Child("apiVersion"), ""))
	case kind.Kind == "":
		errs = append(errs, field.Required(at.Child("kind"), ""))
	case !wellFormedKind.MatchString(kind.Kind) || strings.HasSuffix(kind.Kind, "List"):
		errs = append(errs, field.Invalid(at.Child("kind"), kind.Kind, "must be the kind of a single object, not of a list"))
	case kind.Group != "" && len(validation.IsDNS1123Subdomain(kind.Group)) > 0, len(validation.IsDNS1035Label(kind.Version)) > 0:
		errs = append(errs, field.Invalid(at.Child("apiVersion"), kind.GroupVersion().String(), "must be a version, or a group and a version"))
	case isForbiddenKind(kind):
		errs = append(errs, field.Forbidden(at.Child("kind"), "never created by a set"))
	}
	name, named := object.Pattern(), at.Child("metadata", "name")
	const identityName, ordinalName = "$(" + render.Identity + ")", "$(" + render.Ordinal + ")"
	switch {
	case name == "":
		errs = append(errs, field.Required(named, ""))
	case object.ForSet() && (strings.Contains(name, identityName) || strings.Contains(name, ordinalName)):
		errs = append(errs, field.Invalid(named, name, "must not contain $(IDENTITY) or $(ORDINAL)"))
	case !object.ForSet() && !strings.Contains(strings.ReplaceAll(name, "$"+identityName, ""), identityName):
		errs = append(errs, field.Invalid(named, name, "must contain $(IDENTITY); otherwise members, or sets, could share one object"))
	}
	return errs
}

var wellFormedKind = regexp.MustCompile(`^[A-Z][A-Za-z0-9]{0,62}$`)

// validateRenderedObjects renders the objects of some members, and validates them.
func validateRenderedObjects(set *v1.StatefulSet, objects []identity.Object, path *field.Path) field.ErrorList {
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
			if errs := validateRenderedObject(made, object, at); len(errs) > 0 {
				return errs
			}
		}
	}
	return nil
}

// validateRenderedObject requires an object that a set is allowed to create, with one name in one
// namespace.
func validateRenderedObject(made *unstructured.Unstructured, object identity.Object, path *field.Path) field.ErrorList {
	errs := field.ErrorList{}
	manifest := object.Manifest()
	written, _ := manifest["metadata"].(map[string]any)
	for _, name := range []string{"namespace", "generateName", "ownerReferences", "uid", "resourceVersion", "generation", "creationTimestamp",
		"managedFields", "finalizers", "deletionTimestamp"} {
		if _, has := written[name]; has {
			errs = append(errs, field.Forbidden(path.Child("metadata", name), "is set by the controller or the host cluster"))
		}
	}
	for _, name := range []string{"labels", "annotations"} {
		values, _, err := unstructured.NestedStringMap(made.Object, "metadata", name)
		if err != nil {
			errs = append(errs, field.Invalid(path.Child("metadata", name), "", "must be a map of strings"))
		}
		plain, _ := written[name].(map[string]any)
		for key := range plain {
			if identity.IsReserved(key) {
				errs = append(errs, field.Forbidden(path.Child("metadata", name).Key(key), "is set by the controller"))
			}
		}
		for key, value := range values {
			if name == "labels" {
				errs = append(errs, invalid(path.Child("metadata", name).Key(key), value, validation.IsValidLabelValue(value))...)
			}
		}
	}
	if _, has := made.Object["status"]; has {
		errs = append(errs, field.Forbidden(path.Child("status"), "is set by the host cluster"))
	}
	errs = append(errs, invalid(path.Child("metadata", "name"), made.GetName(), validation.IsDNS1123Subdomain(made.GetName()))...)
	if object.Kind().Group == "" && object.Kind().Kind == "Secret" {
		errs = append(errs, validateSecret(manifest, path)...)
	}
	if _, has, _ := unstructured.NestedFieldNoCopy(made.Object, "spec", "ttlSecondsAfterFinished"); has && object.Kind().Group == "batch" {
		errs = append(errs, field.Forbidden(path.Child("spec", "ttlSecondsAfterFinished"), "the Job would be created and run again"))
	}
	return errs
}

// validateManifestKeys rejects manifests that two programs could read in different ways. old is nil
// if the set is new. A manifest that was stored before this rule stays valid while its content does
// not change. Too many or too long templates are rejected elsewhere, and are not parsed here.
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

// storedBefore reports whether the old set already has the manifest of a template with invalid
// keys. An update of other fields may write its keys in another order.
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

// validateRaised rejects more replicas if objects that list the members can be rendered with the
// current number of members, but not with the new one. The cost of a list of any length is not
// known when the template is written.
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

// wrongWithMembers returns the first error in objects that list the members, nil if there is none.
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

// validateObjectRetention requires known policies, and a delay only with Delete.
func validateObjectRetention(spec *v1.StatefulSetSpec, t *v1.ObjectTemplate, path *field.Path) field.ErrorList {
	retention := t.Retention
	if retention == nil {
		return nil
	}
	const remove, retain = v1.DeleteObjectRetentionPolicyType, v1.RetainObjectRetentionPolicyType
	errs := validateObjectRetentionType(retention.WhenScaled, path.Child("whenScaled"), remove, retain)
	errs = append(errs, validateObjectRetentionType(retention.WhenDeleted, path.Child("whenDeleted"), remove, retain)...)
	_, deletes := t.DeletesScaled()
	if (deletes || t.DeletesWithSet()) && mustOutliveClaims(spec, t) {
		errs = append(errs, field.Forbidden(path, fmt.Sprintf("a generated Secret must outlive the claims; use %s", retain)))
	}
	if seconds, at := retention.ScaledAfterSeconds, path.Child("scaledAfterSeconds"); seconds != nil {
		if *seconds < 1 {
			errs = append(errs, field.Invalid(at, *seconds, "must be at least 1"))
		}
		if !deletes {
			errs = append(errs, field.Forbidden(at, fmt.Sprintf("only allowed with whenScaled %q", v1.DeleteObjectRetentionPolicyType)))
		}
	}
	return errs
}

func validateObjectRetentionType(value v1.ObjectRetentionPolicyType, path *field.Path,
	valid ...v1.ObjectRetentionPolicyType) field.ErrorList {
	if value == "" || slices.Contains(valid, value) {
		return nil
	}
	return field.ErrorList{field.NotSupported(path, value, valid)}
}

// isForbiddenKind reports whether sets must not create objects of a kind, because these give rights
// to their creator, or are objects that the host cluster or this server creates itself.
func isForbiddenKind(kind schema.GroupVersionKind) bool {
	if group, ours := strings.CutSuffix(kind.Group, "statefulset.dev"); ours && (group == "" || strings.HasSuffix(group, ".")) {
		return true
	}
	switch kind.Group {
	case "rbac.authorization.k8s.io", "admissionregistration.k8s.io", "apiregistration.k8s.io", "apiextensions.k8s.io",
		"certificates.k8s.io", "authentication.k8s.io", "authorization.k8s.io",
		"authorization.openshift.io":
		return true
	case "":
		return slices.Contains([]string{"Pod", "PersistentVolumeClaim", "PersistentVolume", "Binding", "Node", "Namespace", "Event", "Endpoints"},
			kind.Kind)
	case "events.k8s.io":
		return true
	case "discovery.k8s.io":
		return kind.Kind == "EndpointSlice"
	case "apps":
		return kind.Kind == "ControllerRevision"
	default:
		return false
	}
}

// forbiddenSecretTypes are types of Secrets that the host cluster trusts, or fills.
func forbiddenSecretTypes() []string {
	return []string{"kubernetes.io/service-account-token", "bootstrap.kubernetes.io/token"}
}

// secretFields are the fields of a Secret with secret values.
func secretFields() []string { return []string{"data", "stringData"} }

const readable = "every user who can read the set could read it; use generate, or create the Secret yourself"

// validateSecret requires a Secret without secret values, which must not be part of the set.
func validateSecret(written map[string]any, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	for _, name := range secretFields() {
		if _, has := written[name]; has {
			errs = append(errs, field.Forbidden(path.Child(name), readable))
		}
	}
	kind, _, _ := unstructured.NestedString(written, "type")
	switch {
	case strings.Contains(kind, "$("):
		errs = append(errs, field.Invalid(path.Child("type"), kind, "must be the same for all members, without parameters"))
	case slices.Contains(forbiddenSecretTypes(), kind):
		errs = append(errs, field.Forbidden(path.Child("type"), "never created by a set"))
	}
	return errs
}

// validateSecretTransforms rejects transforms that change secret values or the type of a Secret.
// Not every member is tried, and the results of transforms may change with the number of members.
func validateSecretTransforms(object identity.Object, path *field.Path) field.ErrorList {
	if object.Kind().GroupKind() != (schema.GroupKind{Kind: "Secret"}) {
		return nil
	}
	var errs field.ErrorList
	for i, transform := range object.Template().Transforms {
		at := path.Index(i).Child("path")
		switch first, _, _ := strings.Cut(strings.TrimPrefix(transform.Path, "/"), "/"); {
		case slices.Contains(secretFields(), first):
			errs = append(errs, field.Forbidden(at, readable))
		case first == "type":
			errs = append(errs, field.Forbidden(at, "the type of a Secret must be the same for all members"))
		}
	}
	return errs
}
