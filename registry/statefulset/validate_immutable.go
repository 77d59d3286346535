// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package statefulset

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// mostOfChange is the maximum number of bytes of a value in a message.
const mostOfChange = 100

// validateSelectorUpdate rejects a change of the selector.
func validateSelectorUpdate(selector, old *metav1.LabelSelector, path *field.Path) field.ErrorList {
	if equality.Semantic.DeepEqual(selector, old) {
		return nil
	}
	return field.ErrorList{field.Invalid(path, selector, "field is immutable"+firstChange(path.String(), selector, old))}
}

// firstChange describes the first changed field below a path, with its new and its old value. It is
// empty if the written fields are equal.
func firstChange(path string, now, before any) string {
	at, now, before, changed := changeOf(path, asWritten(now), asWritten(before))
	if !changed {
		return ""
	}
	return fmt.Sprintf(": %s is %s, and was %s", at, briefly(now), briefly(before))
}

// asWritten returns the JSON form of a value, which a manifest has.
func asWritten(value any) (written any) {
	text, err := json.Marshal(value)
	if err != nil || json.Unmarshal(text, &written) != nil {
		return nil
	}
	return written
}

// changeOf finds the first changed field, in the order of names and items.
func changeOf(path string, now, before any) (at string, is, was any, changed bool) {
	switch n := now.(type) {
	case map[string]any:
		b, both := before.(map[string]any)
		if !both {
			break
		}
		names := maps.Clone(n)
		maps.Copy(names, b)
		for _, name := range slices.Sorted(maps.Keys(names)) {
			if at, is, was, changed = changeOf(below(path, name), n[name], b[name]); changed {
				return at, is, was, true
			}
		}
		return "", nil, nil, false
	case []any:
		b, both := before.([]any)
		if !both {
			break
		}
		for i := range max(len(n), len(b)) {
			if at, is, was, changed = changeOf(fmt.Sprintf("%s[%d]", path, i), itemOf(n, i), itemOf(b, i)); changed {
				return at, is, was, true
			}
		}
		return "", nil, nil, false
	}
	return path, now, before, !reflect.DeepEqual(now, before)
}

func itemOf(items []any, i int) any {
	if i >= len(items) {
		return nil
	}
	return items[i]
}

// below is the path of a field, or of a map key that is not a field name.
func below(path, name string) string {
	if strings.ContainsAny(name, "./") {
		return path + "[" + name + "]"
	}
	return path + "." + name
}

// briefly formats a value as JSON, cut after some bytes.
func briefly(value any) string {
	if value == nil {
		return "not set"
	}
	text, err := json.Marshal(value)
	if err != nil {
		return err.Error()
	}
	if len(text) > mostOfChange {
		return strings.ToValidUTF8(string(text[:mostOfChange]), "") + "..."
	}
	return string(text)
}
