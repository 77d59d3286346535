// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package component

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"sigs.k8s.io/kustomize/kyaml/openapi"
	kyaml "sigs.k8s.io/kustomize/kyaml/yaml"
)

const (
	publishedRef = "#/components/schemas/"
	ref          = "#/definitions/"
	ourKind      = "dev.statefulset.apps.v1.StatefulSet"
	kindsOf      = "x-kubernetes-group-version-kind"
	strategy     = "x-kubernetes-patch-strategy"
)

// definitions are OpenAPI schemas by their names.
type definitions map[string]any

type node = map[string]any

// builtinDefinitions returns the definitions that are compiled into kustomize.
func builtinDefinitions() (definitions, error) {
	content, err := json.Marshal(openapi.Schema().Definitions)
	if err != nil {
		return nil, fmt.Errorf("encoding kustomize's definitions: %w", err)
	}
	var all definitions
	if err := json.Unmarshal(content, &all); err != nil {
		return nil, fmt.Errorf("decoding kustomize's definitions: %w", err)
	}
	return all, nil
}

// publishedDefinitions returns the definitions of our OpenAPI document, which has version 3, in the
// form of version 2, which kustomize reads.
func publishedDefinitions(document []byte) (definitions, error) {
	var published struct {
		Components struct {
			Schemas definitions `json:"schemas"`
		} `json:"components"`
	}
	if err := json.Unmarshal(document, &published); err != nil {
		return nil, fmt.Errorf("decoding the published document: %w", err)
	}
	if published.Components.Schemas[ourKind] == nil {
		return nil, fmt.Errorf("reading the published document: %s is missing", ourKind)
	}
	for name, schema := range published.Components.Schemas {
		published.Components.Schemas[name] = converted(schema)
	}
	return published.Components.Schemas, nil
}

func converted(value any) any {
	switch v := value.(type) {
	case []any:
		list := make([]any, len(v))
		for i := range v {
			list[i] = converted(v[i])
		}
		return list
	case node:
		result := node{}
		for key, item := range v {
			result[key] = converted(item)
		}
		if text, ok := v["$ref"].(string); ok {
			result["$ref"] = ref + strings.TrimPrefix(text, publishedRef)
		}
		if parts, ok := v["allOf"].([]any); ok && len(parts) == 1 {
			delete(result, "allOf")
			maps.Copy(result, converted(parts[0]).(node))
		}
		return result
	}
	return value
}

// has reports whether our kind has a field at a path like spec/overrides/containers/env. The path
// has no part for the items of a list.
func (d definitions) has(path string) bool {
	at := d[ourKind]
	for part := range strings.SplitSeq(path, "/") {
		schema := d.resolved(at)
		if items, ok := schema["items"]; ok {
			schema = d.resolved(items)
		}
		properties, _ := schema["properties"].(node)
		if at = properties[part]; at == nil {
			return false
		}
	}
	return true
}

func (d definitions) resolved(schema any) node {
	s, _ := schema.(node)
	if name, ok := target(s); ok {
		return d.resolved(d[name])
	}
	return s
}

func target(schema node) (string, bool) {
	text, _ := schema["$ref"].(string)
	return strings.CutPrefix(text, ref)
}

// merging returns the part of the definitions that says how a patch is merged: the kinds, and those
// of their fields from which a patch strategy can be reached. kustomize treats an omitted field
// like one without a strategy.
func (d definitions) merging() definitions {
	reaches := d.reaching()
	result := definitions{}
	for name, schema := range d {
		s, _ := schema.(node)
		if s[kindsOf] != nil || reaches[name] {
			result[name] = pruned(s, reaches)
		}
	}
	used := map[string]bool{}
	for name, schema := range result {
		if schema.(node)[kindsOf] != nil {
			result.use(name, used)
		}
	}
	maps.DeleteFunc(result, func(name string, _ any) bool { return !used[name] })
	return result
}

func (d definitions) use(name string, used map[string]bool) {
	if used[name] {
		return
	}
	used[name] = true
	walk(d[name], func(schema node) {
		if next, ok := target(schema); ok {
			d.use(next, used)
		}
	})
}

// reaching returns the names of the definitions from which a patch strategy can be reached.
func (d definitions) reaching() map[string]bool {
	reaches := map[string]bool{}
	for again := true; again; {
		again = false
		for name, schema := range d {
			if !reaches[name] && reachesStrategy(schema, reaches) {
				reaches[name], again = true, true
			}
		}
	}
	return reaches
}

func reachesStrategy(schema any, reaches map[string]bool) bool {
	found := false
	walk(schema, func(s node) {
		name, _ := target(s)
		_, has := s[strategy].(string)
		found = found || has || reaches[name]
	})
	return found
}

func walk(value any, visit func(node)) {
	switch v := value.(type) {
	case node:
		visit(v)
		for _, item := range v {
			walk(item, visit)
		}
	case []any:
		for _, item := range v {
			walk(item, visit)
		}
	}
}

func pruned(schema node, reaches map[string]bool) node {
	result := node{}
	for key, value := range schema {
		switch key {
		case "type", "$ref", kindsOf, strategy, "x-kubernetes-patch-merge-key", "x-kubernetes-list-map-keys":
			result[key] = value
		case "items", "additionalProperties":
			if s, ok := value.(node); ok {
				result[key] = pruned(s, reaches)
			}
		case "properties":
			fields := node{}
			for name, property := range value.(node) {
				if reachesStrategy(property, reaches) {
					fields[name] = pruned(property.(node), reaches)
				}
			}
			result[key] = fields
		}
	}
	return result
}

// clusterScopedKinds returns the names of kinds that kustomize knows to have no namespace.
func (d definitions) clusterScopedKinds() []string {
	var names []string
	for _, schema := range d {
		list, _ := schema.(node)[kindsOf].([]any)
		for _, item := range list {
			k, _ := item.(node)
			version := strings.TrimPrefix(fmt.Sprintf("%v/%v", k["group"], k["version"]), "/")
			name := fmt.Sprint(k["kind"])
			if openapi.IsCertainlyClusterScoped(kyaml.TypeMeta{APIVersion: version, Kind: name}) && !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
	}
	return names
}
