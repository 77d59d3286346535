// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
)

// breaking returns the changes with which a client that was generated from the earlier document
// would fail, such as "StatefulSetSpec.replicas: was integer, is string".
func breaking(before, after document) []string {
	var found []string
	add := func(place, format string, args ...any) {
		found = append(found, place+": "+fmt.Sprintf(format, args...))
	}
	operations := map[string]object{}
	after.operations(func(path, method string, operation object) { operations[method+" "+path] = operation })
	before.operations(func(path, method string, operation object) {
		place := strings.ToUpper(method) + " " + path
		now, ok := operations[method+" "+path]
		if !ok {
			add(place, "was removed")
			return
		}
		compareOperations(place, operation, now, add)
	})
	for _, name := range slices.Sorted(maps.Keys(before.schemas())) {
		place := name[strings.LastIndex(name, ".")+1:]
		now, ok := after.schemas()[name].(object)
		if !ok {
			add(place, "was removed")
			continue
		}
		compareSchemas(place, at(before.schemas(), name), now, add)
	}
	return found
}

type report func(place, format string, args ...any)

func compareOperations(place string, was, is object, add report) {
	if a, b := was["operationId"], is["operationId"]; a != b {
		add(place, "operation was %v, is %v", a, b)
	}
	now := parameters(is)
	for _, name := range slices.Sorted(maps.Keys(parameters(was))) {
		if now[name] == nil {
			add(place, "parameter %s was removed", name)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(now)) {
		if now[name]["required"] == true && parameters(was)[name] == nil {
			add(place, "parameter %s is required", name)
		}
	}
	for _, kind := range slices.Sorted(maps.Keys(at(was, "requestBody", "content"))) {
		if at(is, "requestBody", "content")[kind] == nil {
			add(place, "%s is not accepted any more", kind)
		}
	}
	for _, code := range slices.Sorted(maps.Keys(at(was, "responses"))) {
		a, b := at(was, "responses", code, "content", "application/json", "schema"),
			at(is, "responses", code, "content", "application/json", "schema")
		if typeOf(a) != typeOf(b) {
			add(place, "answer %s was %s, is %s", code, typeOf(a), typeOf(b))
		}
	}
}

func parameters(operation object) map[string]object {
	found := map[string]object{}
	list, _ := operation["parameters"].([]any)
	for _, item := range list {
		parameter, _ := item.(object)
		found[fmt.Sprint(parameter["name"])] = parameter
	}
	return found
}

func compareSchemas(place string, was, is object, add report) {
	if a, b := typeOf(was), typeOf(is); a != b {
		add(place, "was %s, is %s", a, b)
		return
	}
	// A removed value is not accepted any more. A new value breaks nothing, because clients keep
	// values that they do not know.
	now := texts(is["enum"])
	for _, value := range texts(was["enum"]) {
		if len(now) > 0 && !slices.Contains(now, value) {
			add(place, "value %s was removed", value)
		}
	}
	for _, field := range texts(is["required"]) {
		if !slices.Contains(texts(was["required"]), field) {
			add(place+"."+field, "is required")
		}
	}
	for _, name := range slices.Sorted(maps.Keys(at(was, "properties"))) {
		field, ok := at(is, "properties")[name].(object)
		if !ok {
			add(place+"."+name, "was removed")
			continue
		}
		compareSchemas(place+"."+name, at(was, "properties", name), field, add)
	}
	for _, inner := range []string{"items", "additionalProperties"} {
		if was[inner] != nil && is[inner] != nil {
			compareSchemas(place, at(was, inner), at(is, inner), add)
		}
	}
}

// typeOf returns the properties of a schema that decide the type in generated clients.
func typeOf(schema object) string {
	if name := target(schema); name != "" {
		return name[strings.LastIndex(name, ".")+1:]
	}
	if one, err := json.Marshal(schema["oneOf"]); err == nil && schema["oneOf"] != nil {
		return string(one)
	}
	kind := fmt.Sprint(schema["type"])
	if format := schema["format"]; format != nil {
		kind += " " + fmt.Sprint(format)
	}
	return kind
}

// unexplained returns an error with the breaking changes that the first section of the changelog
// does not mention. An entry mentions a change with the word "Breaking" and the place.
func unexplained(breaks []string, changelog string) error {
	text, err := os.ReadFile(changelog)
	if err != nil {
		return fmt.Errorf("reading the changelog: %w", err)
	}
	section := string(text)
	if _, after, ok := strings.Cut(section, "\n## "); ok {
		section, _, _ = strings.Cut(after, "\n## ")
	}
	var left []string
	for _, b := range breaks {
		place, _, _ := strings.Cut(b, ": ")
		if !slices.ContainsFunc(strings.Split(section, "\n- "), func(entry string) bool {
			return strings.Contains(entry, "Breaking") && strings.Contains(entry, "`"+place+"`")
		}) {
			left = append(left, b)
		}
	}
	if len(left) == 0 {
		return nil
	}
	return fmt.Errorf(
		"clients generated from the earlier document would break:\n  %s\nRevert the change, or name the places in the first section of %s, in an entry with the word Breaking, such as `%s`",
		strings.Join(left, "\n  "), changelog, strings.SplitN(left[0], ": ", 2)[0])
}
