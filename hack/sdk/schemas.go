// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

const (
	group       = "apps.statefulset.dev"
	draft       = "http://json-schema.org/draft-07/schema#"
	definitions = "#/definitions/"
)

// writeSchemas writes DIR/GROUP/KIND_VERSION.json for each kind of the group, the path that editors
// and kubeconform use. Each schema is self-contained. Schemas refuse unknown fields, so that
// misspelt fields are found.
func (d document) writeSchemas(dir string) error {
	dir = filepath.Join(dir, group)
	if err := os.RemoveAll(dir); err != nil {
		return fmt.Errorf("removing the previous schemas: %w", err)
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return fmt.Errorf("creating a directory: %w", err)
	}
	for name, version := range d.kinds() {
		kind := name[strings.LastIndex(name, ".")+1:]
		file := filepath.Join(dir, strings.ToLower(kind)+"_"+version+".json")
		if err := write(file, d.jsonSchema(name, kind, version)); err != nil {
			return err
		}
	}
	return nil
}

// kinds returns the names of the schemas of the group's own kinds, with their versions.
func (d document) kinds() map[string]string {
	found := map[string]string{}
	for name := range d.schemas() {
		list, _ := at(d.schemas(), name)["x-kubernetes-group-version-kind"].([]any)
		for _, item := range list {
			kind, _ := item.(object)
			if kind["group"] == group && strings.HasPrefix(name, "dev.statefulset.") {
				found[name] = fmt.Sprint(kind["version"])
			}
		}
	}
	return found
}

func (d document) jsonSchema(name, kind, version string) object {
	used := map[string]bool{}
	d.reach(name, used)
	all := object{}
	for _, n := range slices.Sorted(maps.Keys(used)) {
		all[n] = converted(at(d.schemas(), n))
	}
	top, _ := all[name].(object)
	delete(all, name)
	top["$schema"] = draft
	top["title"] = kind + " of " + group + "/" + version
	top["required"] = []any{"apiVersion", "kind"}
	top["definitions"] = all
	properties := at(top, "properties")
	properties["apiVersion"] = object{"type": "string", "enum": []any{group + "/" + version}}
	properties["kind"] = object{"type": "string", "enum": []any{kind}}
	if d.schemas()[name+"List"] != nil { // stored kinds have a spec
		top["required"] = []any{"apiVersion", "kind", "spec"}
	}
	return top
}

// reach records the schemas that a schema refers to, directly or indirectly.
func (d document) reach(name string, used map[string]bool) {
	if used[name] {
		return
	}
	used[name] = true
	walk(d.schemas()[name], func(o object) {
		if next := target(o); next != "" {
			d.reach(next, used)
		}
	})
}

// converted converts a schema to JSON Schema: references point to definitions, optional fields may
// be null, unknown fields are refused, and formats of OpenAPI are removed.
func converted(schema object) object {
	result := object{}
	for key, value := range schema {
		switch {
		case strings.HasPrefix(key, "x-"), key == "default", key == "nullable":
		case key == "format" && value != "date-time":
		case key == "$ref":
			result[key] = definitions + target(schema)
		case key == "properties":
			result[key] = properties(value.(object), texts(schema["required"]))
			result["additionalProperties"] = false
		default:
			result[key] = convertedValue(value)
		}
	}
	return result
}

func convertedValue(value any) any {
	switch v := value.(type) {
	case object:
		return converted(v)
	case []any:
		list := make([]any, len(v))
		for i := range v {
			list[i] = convertedValue(v[i])
		}
		return list
	}
	return value
}

func properties(all object, required []string) object {
	result := object{}
	for name, value := range all {
		property := converted(value.(object))
		if kind, ok := property["type"].(string); ok && !slices.Contains(required, name) && property["enum"] == nil {
			property["type"] = []any{kind, "null"}
		}
		result[name] = property
	}
	return result
}
