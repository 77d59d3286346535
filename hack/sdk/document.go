// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
)

// object is a JSON object.
type object = map[string]any

// document is an OpenAPI document of version 3.
type document object

const reference = "#/components/schemas/"

func read(path string) (document, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("reading a document: %w", err)
	}
	var d document
	if err := json.Unmarshal(text, &d); err != nil {
		return nil, fmt.Errorf("reading %s: %w", path, err)
	}
	if len(d.schemas()) == 0 || len(d.paths()) == 0 {
		return nil, fmt.Errorf("%s has no schemas or no paths: want an OpenAPI document of version 3", path)
	}
	return d, nil
}

func write(path string, content any) error {
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", " ")
	if err := encoder.Encode(content); err != nil {
		return fmt.Errorf("encoding %s: %w", path, err)
	}
	if err := os.WriteFile(path, text.Bytes(), 0o644); err != nil {
		return fmt.Errorf("writing: %w", err)
	}
	return nil
}

// at returns the object at a path of keys, empty if there is none.
func at(o object, keys ...string) object {
	for _, key := range keys {
		o, _ = o[key].(object)
	}
	return o
}

func (d document) schemas() object { return at(object(d), "components", "schemas") }

func (d document) paths() object { return at(object(d), "paths") }

// operations calls visit with each operation, in the order of paths.
func (d document) operations(visit func(path, method string, operation object)) {
	for _, path := range slices.Sorted(maps.Keys(d.paths())) {
		item := at(d.paths(), path)
		for _, method := range slices.Sorted(maps.Keys(item)) {
			if operation, ok := item[method].(object); ok {
				visit(path, method, operation)
			}
		}
	}
}

// walk calls visit with each object in a value, the outer ones first.
func walk(value any, visit func(object)) {
	switch v := value.(type) {
	case object:
		visit(v)
		for _, key := range slices.Sorted(maps.Keys(v)) {
			walk(v[key], visit)
		}
	case []any:
		for _, item := range v {
			walk(item, visit)
		}
	}
}

// target returns the name of the schema that a schema refers to, directly or as the only entry of
// allOf.
func target(schema object) string {
	if all, ok := schema["allOf"].([]any); ok && len(all) == 1 {
		schema, _ = all[0].(object)
	}
	ref, _ := schema["$ref"].(string)
	return strings.TrimPrefix(ref, reference)
}

// texts returns the strings in a list.
func texts(list any) []string {
	var found []string
	items, _ := list.([]any)
	for _, item := range items {
		if text, ok := item.(string); ok {
			found = append(found, text)
		}
	}
	return found
}
