//go:build gitops

// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package gitops

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/fluxcd/pkg/kustomize"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/kustomize/kyaml/filesys"
	"sigs.k8s.io/yaml"
)

// TestFluxBuildsWithTheComponent builds as the kustomize-controller does: several times in one process, and before that
// another kustomization, which has a schema of its own.
func TestFluxBuildsWithTheComponent(t *testing.T) {
	dir := t.TempDir()
	write := func(path, content string) {
		t.Helper()
		file := filepath.Join(dir, path)
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.CopyFS(filepath.Join(dir, "component"), os.DirFS("../../artifacts/kustomize")); err != nil {
		t.Fatal(err)
	}
	write("other/kustomization.yaml", "openapi:\n  path: schema.json\nconfigMapGenerator:\n- name: conf\n  literals: [level=info]\n")
	write("other/schema.json", `{"swagger": "2.0", "definitions": {}}`)
	write("app/patch.yaml", `{"apiVersion":"apps.statefulset.dev/v1","kind":"StatefulSet","metadata":{"name":"db"},`+sidecar[1:])
	write("app/set.yaml", asYAML(t, sides()[1].set(t, "default", second)))
	write("app/kustomization.yaml", "resources: [set.yaml]\ncomponents: [../component]\npatches:\n- path: patch.yaml\n")

	for _, path := range []string{"other", "app", "app"} {
		resources, err := kustomize.Build(filesys.MakeFsOnDisk(), filepath.Join(dir, path))
		if err != nil {
			t.Fatalf("building %s: %v", path, err)
		}
		if path == "other" {
			continue
		}
		content, err := resources.AsYaml()
		if err != nil {
			t.Fatal(err)
		}
		set := unstructured.Unstructured{}
		if err := yaml.Unmarshal(content, &set.Object); err != nil {
			t.Fatal(err)
		}
		if got := containers(t, &set); got != withSidecar {
			t.Errorf("containers after a patch that adds one: got %s, want %s", got, withSidecar)
		}
	}
}
