// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package kustomize

import (
	"strconv"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"
)

// setIn returns the StatefulSet among YAML documents.
func setIn(t *testing.T, documents string) map[string]any {
	t.Helper()
	for document := range strings.SplitSeq(documents, "\n---\n") {
		var object map[string]any
		if err := yaml.Unmarshal([]byte(document), &object); err != nil {
			t.Fatalf("parsing %s: %v", document, err)
		}
		if object["kind"] == "StatefulSet" {
			return object
		}
	}
	t.Fatalf("there is no StatefulSet in %s", documents)
	return nil
}

// at returns the value at a path of keys and indexes with dots between them, or nil.
func at(t *testing.T, value any, path string) any {
	t.Helper()
	for part := range strings.SplitSeq(path, ".") {
		switch v := value.(type) {
		case map[string]any:
			value = v[part]
		case []any:
			i, err := strconv.Atoi(part)
			if err != nil || i >= len(v) {
				t.Fatalf("%s: there is no item %s", path, part)
			}
			value = v[i]
		default:
			return nil
		}
	}
	return value
}

// put sets the value at a path, and makes maps that are missing.
func put(t *testing.T, object map[string]any, path string, value any) {
	t.Helper()
	parent, key := object, path
	if i := strings.LastIndex(path, "."); i >= 0 {
		key = path[i+1:]
		found, ok := at(t, object, path[:i]).(map[string]any)
		if !ok {
			found = map[string]any{}
			put(t, object, path[:i], found)
		}
		parent = found
	}
	parent[key] = value
}
