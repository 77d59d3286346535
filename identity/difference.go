// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package identity

import (
	"fmt"
	"reflect"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// firstDifference is the path of the first field in which two values differ, in the order in which
// their type declares fields. It is empty if they are equal. Only lists of containers are compared
// by entry.
func firstDifference[T any](path string, a, b *T) string {
	return differenceOf(path, reflect.ValueOf(a), reflect.ValueOf(b))
}

func differenceOf(path string, a, b reflect.Value) string {
	if equality.Semantic.DeepEqual(a.Interface(), b.Interface()) {
		return ""
	}
	switch {
	case a.Kind() == reflect.Pointer && !a.IsNil() && !b.IsNil():
		return differenceOf(path, a.Elem(), b.Elem())
	case a.Kind() == reflect.Struct && hasFields(a.Type()):
		for i := range a.NumField() {
			if found := differenceOf(path+nameOf(a.Type().Field(i)), a.Field(i), b.Field(i)); found != "" {
				return found
			}
		}
	case a.Type() == reflect.TypeFor[[]corev1.Container]() && a.Len() == b.Len():
		for i := range a.Len() {
			if found := differenceOf(fmt.Sprintf("%s[%d]", path, i), a.Index(i), b.Index(i)); found != "" {
				return found
			}
		}
	}
	return path
}

// hasFields reports whether a type has fields that users write. A time or a quantity is a single
// value to them.
func hasFields(t reflect.Type) bool {
	return t.PkgPath() == reflect.TypeFor[corev1.Pod]().PkgPath() || t == reflect.TypeFor[metav1.ObjectMeta]()
}

// nameOf is the path element of a field. It is empty for an inlined field.
func nameOf(field reflect.StructField) string {
	name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
	if name == "" {
		return ""
	}
	return "." + name
}
