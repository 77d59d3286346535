// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package measure

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"
)

// CustomResource returns the definition, as JSON, of a custom resource with the schema of a kind in
// an OpenAPI v3 document: what the kind would be without its own server. It omits descriptions,
// which makes the custom resource a little faster than in practice.
func CustomResource(document []byte, kind string, sets schema.GroupVersionResource) ([]byte, error) {
	var openapi struct {
		Components struct {
			Schemas map[string]map[string]any
		}
	}
	if err := json.Unmarshal(document, &openapi); err != nil {
		return nil, fmt.Errorf("reading an OpenAPI document: %w", err)
	}
	root := map[string]any{"$ref": schemaPrefix + kind}
	structural, err := inliner(openapi.Components.Schemas).schema(root)
	if err != nil {
		return nil, fmt.Errorf("converting the schema of %s: %w", kind, err)
	}
	properties, ok := structural["properties"].(map[string]any)
	if !ok {
		return nil, fmt.Errorf("the schema of %s has no properties", kind)
	}
	// The host cluster defines the schema of metadata itself, and accepts no other.
	properties["metadata"] = map[string]any{"type": "object"}
	name := kind[strings.LastIndexByte(kind, '.')+1:]
	return json.Marshal(map[string]any{
		"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
		"metadata": map[string]any{"name": sets.Resource + "." + sets.Group},
		"spec": map[string]any{
			"group": sets.Group, "scope": "Namespaced",
			"names": map[string]any{"plural": sets.Resource, "singular": strings.ToLower(name), "kind": name, "listKind": name + "List"},
			"versions": []any{map[string]any{
				"name": sets.Version, "served": true, "storage": true,
				"schema": map[string]any{"openAPIV3Schema": structural},
				"subresources": map[string]any{"status": map[string]any{}, "scale": map[string]any{
					"specReplicasPath": ".spec.replicas", "statusReplicasPath": ".status.replicas",
				}},
			}},
		},
	})
}

const schemaPrefix = "#/components/schemas/"

// inliner contains the schemas that other schemas refer to. A CustomResourceDefinition must not
// contain references.
type inliner map[string]map[string]any

// kept returns the keywords that have the same meaning in a CustomResourceDefinition. "default" is
// kept if it is not empty.
func kept() []string {
	return []string{"type", "format", "required", "enum", "x-kubernetes-list-type", "x-kubernetes-list-map-keys", "x-kubernetes-map-type"}
}

func (in inliner) schema(from map[string]any) (map[string]any, error) {
	from, err := in.resolve(from)
	if err != nil {
		return nil, err
	}
	if from["format"] == "int-or-string" || from["oneOf"] != nil {
		return map[string]any{"x-kubernetes-int-or-string": true}, nil
	}
	to := map[string]any{}
	for _, word := range kept() {
		if value, ok := from[word]; ok {
			to[word] = value
		}
	}
	if value, ok := from["default"]; ok && !isEmpty(value, from["enum"]) {
		to["default"] = value
	}
	for _, word := range []string{"items", "additionalProperties"} {
		if inner, ok := from[word].(map[string]any); ok {
			if to[word], err = in.schema(inner); err != nil {
				return nil, err
			}
		}
	}
	if properties, ok := from["properties"].(map[string]any); ok {
		if to["properties"], err = in.properties(properties); err != nil {
			return nil, err
		}
	}
	return to, nil
}

func (in inliner) properties(from map[string]any) (map[string]any, error) {
	to := map[string]any{}
	for _, name := range slices.Sorted(maps.Keys(from)) {
		property, ok := from[name].(map[string]any)
		if !ok {
			return nil, fmt.Errorf("property %s: got %T, want a schema", name, from[name])
		}
		inlined, err := in.schema(property)
		if err != nil {
			return nil, fmt.Errorf("property %s: %w", name, err)
		}
		to[name] = inlined
	}
	return to, nil
}

// resolve follows a reference, which may be wrapped so that other keywords can stand next to it.
func (in inliner) resolve(from map[string]any) (map[string]any, error) {
	merged := maps.Clone(from)
	if all, ok := from["allOf"].([]any); ok && len(all) == 1 {
		if wrapped, ok := all[0].(map[string]any); ok {
			maps.Copy(merged, wrapped)
		}
	}
	reference, ok := merged["$ref"].(string)
	if !ok {
		return merged, nil
	}
	named, ok := in[strings.TrimPrefix(reference, schemaPrefix)]
	if !ok {
		return nil, fmt.Errorf("schema %s does not exist", reference)
	}
	whole := maps.Clone(named)
	if value, ok := merged["default"]; ok {
		whole["default"] = value
	}
	return in.resolve(whole)
}

// isEmpty reports whether a default has no effect and would be refused by the host cluster: no
// value, an empty object, or an empty string that is not one of the enum values.
func isEmpty(value any, enum any) bool {
	object, ok := value.(map[string]any)
	return value == nil || ok && len(object) == 0 || value == "" && enum != nil
}
