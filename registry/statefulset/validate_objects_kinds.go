// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package statefulset

import (
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"statefulset.dev/identity"
)

// neverMade reports whether objects of a kind give their maker rights, or stand in for what
// the host or this server makes itself, so that no set may have them made.
func neverMade(kind schema.GroupVersionKind) bool {
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

// forbiddenSecretTypes are Secrets that the host trusts, or fills.
func forbiddenSecretTypes() []string {
	return []string{"kubernetes.io/service-account-token", "bootstrap.kubernetes.io/token"}
}

// secretFields are those of a Secret in which secrets are.
func secretFields() []string { return []string{"data", "stringData"} }

const readable = "who may read the set could read it; use generate, or a Secret of your own"

// validateSecret wants a Secret that holds nothing secret: that stays out of the set.
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
		errs = append(errs, field.Forbidden(path.Child("type"), "never made by a set"))
	}
	return errs
}

// validateSecretTransforms wants transforms to leave alone what is secret in a Secret, and its
// type: not every member is tried, and what they compute may change with the number of members.
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
			errs = append(errs, field.Forbidden(at, "the type of a Secret is the same for all members"))
		}
	}
	return errs
}
