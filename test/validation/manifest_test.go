//go:build validation

// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package validation

import (
	"bufio"
	"bytes"
	stdjson "encoding/json"
	"errors"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/json"
	"k8s.io/apimachinery/pkg/util/yaml"
	sigsyaml "sigs.k8s.io/yaml"
)

// manifest is a set as a user writes it, named by a sentence that says what is
// particular about it.
type manifest struct {
	name   string
	seed   string
	object map[string]any
}

// readSeeds reads the valid sets, by the names of their files.
func readSeeds(t *testing.T) map[string]map[string]any {
	t.Helper()
	files, err := filepath.Glob("seeds/*.yaml")
	if err != nil || len(files) == 0 {
		t.Fatalf("looking for seeds: got %d and %v, want some", len(files), err)
	}
	seeds := map[string]map[string]any{}
	for _, file := range files {
		content, err := os.ReadFile(file)
		if err != nil {
			t.Fatalf("reading a seed: %v", err)
		}
		asJSON, err := sigsyaml.YAMLToJSONStrict(content)
		if err != nil {
			t.Fatalf("reading %s: %v", file, err)
		}
		seeds[strings.TrimSuffix(filepath.Base(file), ".yaml")] = decode(t, asJSON)
	}
	return seeds
}

// written is a document of create.yaml or update.yaml: a seed, and the values that
// take the place of its own, by their paths; null removes what is there.
type written struct {
	Case string                        `json:"case"`
	Seed string                        `json:"seed"`
	Set  map[string]stdjson.RawMessage `json:"set"`
}

func readWritten(t *testing.T, file string, seeds map[string]map[string]any) []manifest {
	t.Helper()
	content, err := os.ReadFile(file)
	if err != nil {
		t.Fatalf("reading the cases: %v", err)
	}
	reader := yaml.NewYAMLReader(bufio.NewReader(bytes.NewReader(content)))
	var all []manifest
	for {
		document, err := reader.Read()
		if errors.Is(err, io.EOF) {
			return all
		}
		var w written
		if err == nil {
			err = sigsyaml.UnmarshalStrict(document, &w)
		}
		if err != nil {
			t.Fatalf("reading %s after %d cases: %v", file, len(all), err)
		}
		if seeds[w.Seed] == nil || w.Case == "" {
			t.Fatalf("%s: case %d is %q of the seed %q, which must both be there", file, len(all)+1, w.Case, w.Seed)
		}
		object := runtime.DeepCopyJSON(seeds[w.Seed])
		for _, path := range slices.Sorted(maps.Keys(w.Set)) {
			replace(t, object, w.Case, strings.Split(strings.TrimPrefix(path, "/"), "/"), w.Set[path])
		}
		all = append(all, manifest{name: w.Case, seed: w.Seed, object: object})
	}
}

// replace puts a value at a path below parent. Maps on the way are made when they
// are absent; an item may be added to the end of a list.
func replace(t *testing.T, parent any, name string, path []string, value stdjson.RawMessage) any {
	t.Helper()
	if len(path) == 0 {
		return decodeValue(t, value)
	}
	switch node := parent.(type) {
	case []any:
		i, err := strconv.Atoi(path[0])
		if err != nil || i > len(node) {
			t.Fatalf("case %q: %q is no index into a list of %d", name, path[0], len(node))
		}
		if i == len(node) {
			node = append(node, nil)
		}
		if node[i] = replace(t, node[i], name, path[1:], value); node[i] == nil {
			return slices.Delete(node, i, i+1)
		}
		return node
	case nil:
		return replace(t, map[string]any{}, name, path, value)
	case map[string]any:
		key := strings.NewReplacer("~1", "/", "~0", "~").Replace(path[0])
		if node[key] = replace(t, node[key], name, path[1:], value); node[key] == nil {
			delete(node, key)
		}
		return node
	}
	t.Fatalf("case %q: there is nothing below %T at %q", name, parent, path)
	return nil
}

// decode reads a JSON object, with its whole numbers as such.
func decode(t *testing.T, content []byte) map[string]any {
	t.Helper()
	object, ok := decodeValue(t, content).(map[string]any)
	if !ok {
		t.Fatalf("got %s, want an object", content)
	}
	return object
}

func decodeValue(t *testing.T, content []byte) any {
	t.Helper()
	var value any
	if err := json.Unmarshal(content, &value); err != nil {
		t.Fatalf("decoding %s: %v", content, err)
	}
	return value
}
