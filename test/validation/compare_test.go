//go:build validation

// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package validation

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/json"
)

// difference is something in which the answers to one request differ.
type difference struct {
	what          string
	builtin, ours string
}

func (d difference) String() string {
	return fmt.Sprintf("%s\n    built-in: %s\n    ours:     %s", d.what, d.builtin, d.ours)
}

// none stands for what a side does not have.
const none = "none"

func orNone(text string) string {
	if text == "" {
		return none
	}
	return text
}

// compare lists the differences between two answers.
func compare(builtin, ours answer) []difference {
	if builtin.verdict != ours.verdict {
		return []difference{{"verdict", builtin.String(), ours.String()}}
	}
	if builtin.object == nil {
		return compareRefusals(builtin, ours)
	}
	delete(builtin.object, "status")
	delete(ours.object, "status")
	return append(compareWarnings(builtin.warnings, ours.warnings), compareValues("", strip(builtin.object), strip(ours.object))...)
}

func (a answer) String() string {
	if a.object != nil {
		return a.verdict
	}
	return a.verdict + ": " + a.message
}

// compareRefusals compares the fields complained of and the kinds of complaint, and
// the message of a refusal that names no fields.
func compareRefusals(builtin, ours answer) []difference {
	var all []difference
	if len(builtin.causes) == 0 && len(ours.causes) == 0 && builtin.message != ours.message {
		all = append(all, difference{"message", builtin.message, ours.message})
	}
	for _, field := range keysOf(builtin.causes, ours.causes) {
		b, o := strings.Join(builtin.causes[field], ", "), strings.Join(ours.causes[field], ", ")
		if b != o {
			all = append(all, difference{"error at " + field, orNone(b), orNone(o)})
		}
	}
	return all
}

func compareWarnings(builtin, ours []string) []difference {
	var all []difference
	for _, text := range builtin {
		if !slices.Contains(ours, text) {
			all = append(all, difference{"warning", text, none})
		}
	}
	for _, text := range ours {
		if !slices.Contains(builtin, text) {
			all = append(all, difference{"warning", none, text})
		}
	}
	return all
}

// strip takes out of an object what is another in every request, and who owns what of
// its status.
func strip(object map[string]any) map[string]any {
	metadata, _ := object["metadata"].(map[string]any)
	for _, key := range []string{"uid", "creationTimestamp", "resourceVersion"} {
		delete(metadata, key)
	}
	managers, _ := metadata["managedFields"].([]any)
	managers = slices.DeleteFunc(managers, func(manager any) bool {
		delete(manager.(map[string]any), "time")
		return manager.(map[string]any)["subresource"] == "status"
	})
	if metadata != nil {
		metadata["managedFields"] = managers
	}
	return object
}

// compareValues compares what stands at one path of the objects, and all below it.
func compareValues(path string, builtin, ours any) []difference {
	b, o := text(builtin), text(ours)
	if b == o {
		return nil
	}
	var all []difference
	switch b := builtin.(type) {
	case map[string]any:
		if o, ok := ours.(map[string]any); ok {
			for _, key := range keysOf(b, o) {
				all = append(all, compareValues(strings.TrimPrefix(path+"."+key, "."), b[key], o[key])...)
			}
			return all
		}
	case []any:
		if o, ok := ours.([]any); ok && len(o) == len(b) {
			for i := range b {
				all = append(all, compareValues(fmt.Sprintf("%s[%d]", path, i), b[i], o[i])...)
			}
			return all
		}
	}
	return []difference{{"object at " + path, orNone(b), orNone(o)}}
}

func text(value any) string {
	if value == nil {
		return ""
	}
	content, err := json.Marshal(value)
	if err != nil {
		return err.Error()
	}
	return string(content)
}

func keysOf[V any](first, second map[string]V) []string {
	all := maps.Clone(first)
	if all == nil {
		all = map[string]V{}
	}
	maps.Copy(all, second)
	return slices.Sorted(maps.Keys(all))
}
