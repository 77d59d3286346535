// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package statefulset

import (
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	v1 "statefulset.dev/api/apps/v1"
	"statefulset.dev/identity"
)

// The limits of the random bytes for a key of a Secret.
const (
	fewestRandomBytes = 16
	mostRandomBytes   = 64
)

// validateGenerate requires valid keys, and an object that is a Secret. The tags of the field
// reject too many keys, and duplicates.
func validateGenerate(object identity.Object, path *field.Path) field.ErrorList {
	keys, at := object.Template().Generate, path.Child("generate")
	if len(keys) == 0 {
		return nil
	}
	if object.Kind() != (schema.GroupVersionKind{Version: "v1", Kind: "Secret"}) {
		return field.ErrorList{field.Forbidden(at, "only allowed for objects of apiVersion v1 and kind Secret")}
	}
	var errs field.ErrorList
	for i, key := range keys {
		if key.Key != "" { // the tag rejects an empty key
			errs = append(errs, invalid(at.Index(i).Child("key"), key.Key, validation.IsConfigMapKey(key.Key))...)
		}
		if key.Bytes != 0 && (key.Bytes < fewestRandomBytes || key.Bytes > mostRandomBytes) {
			errs = append(errs,
				field.Invalid(at.Index(i).Child("bytes"), key.Bytes, fmt.Sprintf("must be from %d to %d", fewestRandomBytes, mostRandomBytes)))
		}
	}
	return append(errs, validateGeneratedType(object, path)...)
}

// validateGeneratedType requires a type of Secret for which a random value is valid.
func validateGeneratedType(object identity.Object, path *field.Path) field.ErrorList {
	kind, _ := object.Manifest()["type"].(string)
	types := []corev1.SecretType{corev1.SecretTypeOpaque, corev1.SecretTypeBasicAuth}
	switch {
	case kind == "":
	case !slices.Contains(types, corev1.SecretType(kind)):
		return field.ErrorList{field.NotSupported(path.Child("object", "type"), corev1.SecretType(kind), types)}
	case kind == string(corev1.SecretTypeBasicAuth) && !slices.ContainsFunc(object.Template().Generate, func(key v1.GeneratedKey) bool {
		return key.Key == corev1.BasicAuthUsernameKey || key.Key == corev1.BasicAuthPasswordKey
	}):
		return field.ErrorList{field.Required(path.Child("generate"),
			fmt.Sprintf("a Secret of type %s needs a key %q or %q", kind, corev1.BasicAuthUsernameKey, corev1.BasicAuthPasswordKey))}
	}
	return nil
}

// validateAddedKeys rejects a key that is added to existing Secrets, because no value is generated
// for it any more. It identifies Secrets by their names, whatever the name of their template is.
func validateAddedKeys(set, old *v1.StatefulSet, path *field.Path) field.ErrorList {
	before, wrong := identity.OverridesOf(old).Objects()
	if wrong != nil {
		return nil
	}
	after, wrong := identity.OverridesOf(set).Objects()
	if wrong != nil {
		return nil // reported elsewhere
	}
	var errs field.ErrorList
	for i, object := range after {
		at := slices.IndexFunc(before, func(o identity.Object) bool {
			return o.Kind().GroupKind() == object.Kind().GroupKind() && o.Pattern() == object.Pattern()
		})
		if at < 0 {
			continue
		}
		had := before[at].Template().Generate
		for j, key := range object.Template().Generate {
			if !slices.ContainsFunc(had, func(k v1.GeneratedKey) bool { return k.Key == key.Key }) {
				errs = append(errs, field.Forbidden(path.Index(i).Child("generate").Index(j),
					fmt.Sprintf("key %q cannot be added to Secrets that exist without it; give the Secret another name", key.Key)))
			}
		}
	}
	return errs
}

// mustOutliveClaims reports whether the objects of a template must not be deleted: data in claims
// depends on their generated values, and a new object would have other values.
func mustOutliveClaims(spec *v1.StatefulSetSpec, template *v1.ObjectTemplate) bool {
	return len(template.Generate) > 0 && len(spec.VolumeClaimTemplates) > 0
}
