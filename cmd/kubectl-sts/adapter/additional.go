// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package adapter

import (
	"fmt"
	"maps"
	"reflect"

	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// unknownToBuiltIn returns the part of spec and status that is lost when a set is read as one of
// apps/v1. It omits conditions and user actions, which describe prints separately.
func unknownToBuiltIn(set map[string]any) (map[string]any, error) {
	typed := &appsv1.StatefulSet{}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(set, typed); err != nil {
		return nil, fmt.Errorf("reading a StatefulSet as apps/v1: %w", err)
	}
	kept, err := runtime.DefaultUnstructuredConverter.ToUnstructured(typed)
	if err != nil {
		return nil, fmt.Errorf("writing a StatefulSet as apps/v1: %w", err)
	}
	lost := map[string]any{}
	for _, part := range []string{"spec", "status"} {
		whole, _ := set[part].(map[string]any)
		whole = maps.Clone(whole)
		delete(whole, "conditions")
		delete(whole, "userActions")
		if missing := difference(whole, kept[part]); missing != nil {
			lost[part] = missing
		}
	}
	return lost, nil
}

// difference returns the parts of whole that kept lacks, or nil. It ignores empty values, such as
// an empty list, because the types of apps/v1 omit some of them.
func difference(whole, kept any) any {
	switch value := whole.(type) {
	case map[string]any:
		other, ok := kept.(map[string]any)
		if !ok {
			return unlessEmpty(whole)
		}
		lost := map[string]any{}
		for key := range value {
			if missing := difference(value[key], other[key]); missing != nil {
				lost[key] = missing
			}
		}
		return unlessEmpty(lost)
	case []any:
		other, ok := kept.([]any)
		if !ok || len(other) != len(value) {
			return unlessEmpty(whole)
		}
		return listDifference(value, other)
	default:
		if kept != nil {
			return nil
		}
		return unlessEmpty(whole)
	}
}

func listDifference(whole, kept []any) any {
	var lost []any
	for i := range whole {
		if missing := difference(whole[i], kept[i]); missing != nil {
			lost = append(lost, missing)
		}
	}
	return unlessEmpty(lost)
}

func unlessEmpty(value any) any {
	reflected := reflect.ValueOf(value)
	if !reflected.IsValid() || reflected.IsZero() {
		return nil
	}
	if (reflected.Kind() == reflect.Map || reflected.Kind() == reflect.Slice) && reflected.Len() == 0 {
		return nil
	}
	return value
}
