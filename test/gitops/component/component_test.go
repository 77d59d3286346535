// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package component

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const root = "../../.."

// TestTheComponentIsUpToDate compares the files with what the tables of this version of kustomize and our published
// document give.
func TestTheComponentIsUpToDate(t *testing.T) {
	files, err := Files(t.Context(), root)
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(root, "artifacts", "kustomize")
	for name, want := range files {
		got, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Error(err)
			continue
		}
		if diff := cmp.Diff(string(want), string(got)); diff != "" {
			t.Errorf("%s is stale, run hack/generate.sh (-want +got):\n%s", name, diff)
		}
	}
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) != len(files) {
		t.Errorf("files in %s: got %d (%v), want %d", dir, len(entries), err, len(files))
	}
}

// TestPublishedFieldsAreFound is about the paths by which rows for overrides are chosen.
func TestPublishedFieldsAreFound(t *testing.T) {
	document, err := os.ReadFile(filepath.Join(root, "openapi", "v3", group+"_v1.json"))
	if err != nil {
		t.Fatal(err)
	}
	published, err := publishedDefinitions(document)
	if err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]bool{
		"spec/overrides/containers/env/valueFrom/secretKeyRef/name": true,
		"spec/overrides/volumeClaims/storageClassName":              true,
		"spec/overrides/containers/envFrom":                         false,
		"spec/nothing":                                              false,
	} {
		if got := published.has(path); got != want {
			t.Errorf("our kind has %s: got %t, want %t", path, got, want)
		}
	}
}
