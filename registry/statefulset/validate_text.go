// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package statefulset

import (
	"reflect"
	"strings"
	"unicode/utf8"

	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// ValidateText returns errors for values of an object that protobuf can carry and JSON cannot. If
// they were stored, a client that reads the set as JSON would get an error, or another set. The
// generic server reads objects before the strategy does, and panics on them.
func ValidateText(obj runtime.Object) field.ErrorList {
	var errs field.ErrorList
	walk(reflect.ValueOf(obj), nil, &errs)
	return errs
}

func walk(value reflect.Value, path *field.Path, errs *field.ErrorList) {
	switch value.Kind() {
	case reflect.String:
		if !utf8.ValidString(value.String()) {
			*errs = append(*errs, field.Invalid(path, value.String(), "must be UTF-8 text"))
		}
	case reflect.Pointer:
		if !value.IsNil() {
			walk(value.Elem(), path, errs)
		}
	case reflect.Slice:
		if value.Type().Elem().Kind() == reflect.Uint8 {
			return
		}
		for i := range value.Len() {
			walk(value.Index(i), path.Index(i), errs)
		}
	case reflect.Map:
		for entries := value.MapRange(); entries.Next(); {
			at := path.Key(entries.Key().String())
			walk(entries.Key(), at, errs)
			walk(entries.Value(), at, errs)
		}
	case reflect.Struct:
		walkStruct(value, path, errs)
	default: // numbers and booleans are the same everywhere
	}
}

func walkStruct(value reflect.Value, path *field.Path, errs *field.ErrorList) {
	switch v := value.Interface().(type) {
	case resource.Quantity, metav1.FieldsV1, runtime.RawExtension:
		return // they cannot be decoded unless they are text
	case metav1.Time:
		if year := v.Year(); !v.IsZero() && (year < 1 || year > 9999) {
			*errs = append(*errs, field.Invalid(path, v.Unix(), "must be a time of the years 1 to 9999"))
		}
		return
	case intstr.IntOrString:
		if v.Type != intstr.Int && v.Type != intstr.String {
			*errs = append(*errs, field.Invalid(path, v.Type, "must be a number or a string"))
		}
	}
	for i := range value.NumField() {
		described := value.Type().Field(i)
		if !described.IsExported() {
			continue
		}
		name, _, _ := strings.Cut(described.Tag.Get("json"), ",")
		at := path
		if name != "" && name != "-" {
			at = path.Child(name)
		}
		walk(value.Field(i), at, errs)
	}
}
