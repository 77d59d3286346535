//go:build validation

// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package validation

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/runtime"
)

// mutation is one thing that can be wrong with, or at least else about, a value.
type mutation struct {
	says  string
	value any // nil removes what is there
}

// mutants are the sets that come of a seed when one value of its spec is another.
func mutants(seed string, object map[string]any) []manifest {
	var all []manifest
	visit(object["spec"], []any{"spec"}, func(path []any, value any) {
		for _, m := range mutationsOf(value) {
			mutant := runtime.DeepCopyJSON(object)
			put(mutant, path, m.value)
			all = append(all, manifest{name: fmt.Sprintf("%s: %s %s", seed, pathText(path), m.says), seed: seed, object: mutant})
		}
	})
	return all
}

// updates are those mutants that are worth trying on a stored set: all that are not
// about the template, and of those about it one for every way to change a value. The
// rules for the values are those for new sets.
func updates(mutants []manifest) []manifest {
	return slices.DeleteFunc(mutants, func(m manifest) bool {
		if !strings.Contains(m.name, ": spec.template") {
			return false
		}
		return !slices.ContainsFunc([]string{"is left out", "is another", "is one more", "is the opposite", "has its first item twice"},
			func(says string) bool { return strings.HasSuffix(m.name, says) })
	})
}

// visit calls do for a value and for all below it, always in the same order.
func visit(value any, path []any, do func(path []any, value any)) {
	do(path, value)
	switch node := value.(type) {
	case map[string]any:
		for _, key := range slices.Sorted(maps.Keys(node)) {
			visit(node[key], append(slices.Clone(path), key), do)
		}
	case []any:
		for i := range node {
			visit(node[i], append(slices.Clone(path), i), do)
		}
	}
}

func mutationsOf(value any) []mutation {
	removed := mutation{"is left out", nil}
	switch v := value.(type) {
	case string:
		return append([]mutation{removed,
			{"is empty", ""},
			{"is another", v + "x"},
			{"is a number", 7},
			{"is of characters that names do not have", "Not_a name!"},
			{"is too long", strings.Repeat("a", 300)},
		}, quantityMutations(v)...)
	case int64:
		return []mutation{removed,
			{"is one more", v + 1},
			{"is zero", 0},
			{"is negative", -1},
			{"is huge", math.MaxInt32},
			{"is too large for its type", int64(1) << 40},
			{"is a word", "seven"},
		}
	case bool:
		return []mutation{removed, {"is the opposite", !v}, {"is a word", "maybe"}}
	case []any:
		return []mutation{
			removed, {"is empty", []any{}}, {"is an object", map[string]any{}}, {"has its first item twice", append([]any{v[0]}, v...)}}
	case map[string]any:
		more := maps.Clone(v)
		more["Not a key!"] = "x"
		return []mutation{removed, {"is empty", map[string]any{}}, {"is a list", []any{}}, {"has a key that does not exist", more}}
	}
	return nil
}

// quantityMutations are for a string that is an amount of something.
func quantityMutations(value string) []mutation {
	if _, err := resource.ParseQuantity(value); err != nil {
		return nil
	}
	return []mutation{{"is zero", "0"}, {"is negative", "-1"}, {"is a fraction", "0.0005"}, {"is more than there can be", "9e30"}}
}

// put gives a copy of the value to the place that path leads to.
func put(object map[string]any, path []any, value any) {
	var parent any = object
	for _, step := range path[:len(path)-1] {
		parent = child(parent, step)
	}
	last := path[len(path)-1]
	switch node := parent.(type) {
	case map[string]any:
		if value == nil {
			delete(node, last.(string))
		} else {
			node[last.(string)] = runtime.DeepCopyJSONValue(widened(value))
		}
	case []any:
		node[last.(int)] = runtime.DeepCopyJSONValue(widened(value))
	}
}

// widened makes an int of the tables above a number of JSON.
func widened(value any) any {
	if n, ok := value.(int); ok {
		return int64(n)
	}
	return value
}

func child(parent, step any) any {
	if key, ok := step.(string); ok {
		return parent.(map[string]any)[key]
	}
	return parent.([]any)[step.(int)]
}

// pathText is a path as validation errors write it.
func pathText(path []any) string {
	var text strings.Builder
	for _, step := range path {
		switch s := step.(type) {
		case int:
			fmt.Fprintf(&text, "[%d]", s)
		case string:
			if text.Len() > 0 {
				text.WriteByte('.')
			}
			text.WriteString(s)
		}
	}
	return text.String()
}
