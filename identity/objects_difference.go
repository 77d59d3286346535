// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package identity

import (
	"fmt"
	"maps"
	"reflect"
	"slices"

	"k8s.io/apimachinery/pkg/api/resource"

	"statefulset.dev/identity/render"
)

// Difference is the path of the first field of a member's object that a live object lacks or has
// with another value, in the order of field names. It is empty if there is none. Additional fields
// of the live object are ignored.
func (o Object) Difference(ordinal int, live map[string]any) (path string, wrong *render.Error) {
	want, wrong := o.Render(o.overrides.member(ordinal))
	if wrong != nil {
		return "", wrong
	}
	delete(want, "apiVersion") // an object can have several
	return differingPath("", want, live), nil
}

func differingPath(path string, want, got any) string {
	switch want := want.(type) {
	case map[string]any:
		fields, is := got.(map[string]any)
		if !is && len(want) > 0 {
			return path
		}
		for _, name := range slices.Sorted(maps.Keys(want)) {
			at := name
			if path != "" {
				at = path + "." + name
			}
			if found := differingPath(at, want[name], fields[name]); found != "" {
				return found
			}
		}
		return ""
	case []any:
		items, _ := got.([]any)
		if len(items) != len(want) {
			return path
		}
		for i := range want {
			if found := differingPath(fmt.Sprintf("%s[%d]", path, i), want[i], items[i]); found != "" {
				return found
			}
		}
		return ""
	default:
		if want == nil || sameValue(want, got) {
			return ""
		}
		return path
	}
}

// sameValue reports whether two values have the same meaning: API servers normalize quantities.
func sameValue(a, b any) bool {
	if reflect.DeepEqual(a, b) {
		return true
	}
	x, errX := resource.ParseQuantity(fmt.Sprint(a))
	y, errY := resource.ParseQuantity(fmt.Sprint(b))
	return errX == nil && errY == nil && x.Cmp(y) == 0
}
