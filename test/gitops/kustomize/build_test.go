// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package kustomize

import (
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/kyaml/filesys"
	"sigs.k8s.io/kustomize/kyaml/openapi"
)

const (
	root          = "../../.."
	componentDir  = root + "/artifacts/kustomize"
	builtin       = "apiVersion: apps/v1\nkind: StatefulSet"
	ours          = "apiVersion: apps.statefulset.dev/v1\nkind: StatefulSet"
	useComponent  = "components:\n- ../component\n"
	builtinTarget = "    apiVersion: apps/v1\n    kind: StatefulSet"
	ourTarget     = "    apiVersion: apps.statefulset.dev/v1\n    kind: StatefulSet"
)

// tree are files by their paths.
type tree map[string]string

// ofOurs returns the files with our kind in the place of the built-in one.
func (files tree) ofOurs() tree {
	result := tree{}
	for path, content := range files {
		result[path] = asOurs(content)
	}
	return result
}

func asOurs(content string) string {
	return strings.NewReplacer(builtin, ours, builtinTarget, ourTarget, "group: apps\n", "group: apps.statefulset.dev\n").Replace(content)
}

// with returns the files and what is added to the end of some of them.
func (files tree) with(added tree) tree {
	result := maps.Clone(files)
	for path, content := range added {
		result[path] += content
	}
	return result
}

// write writes the files, and the component next to their directories.
func (files tree) write(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.CopyFS(filepath.Join(dir, "component"), os.DirFS(componentDir)); err != nil {
		t.Fatal(err)
	}
	for path, content := range files {
		file := filepath.Join(dir, path)
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// build returns what kustomize makes of the directory app of the files.
func build(t *testing.T, files tree) string {
	t.Helper()
	output, err := tryBuild(filepath.Join(files.write(t), "app"))
	if err != nil {
		t.Fatalf("kustomize build: %v", err)
	}
	return output
}

func tryBuild(dir string) (string, error) {
	openapi.ResetOpenAPI() // a process of kustomize builds once, and the schema is global in it
	resources, err := krusty.MakeKustomizer(krusty.MakeDefaultOptions()).Run(filesys.MakeFsOnDisk(), dir)
	if err != nil {
		return "", err
	}
	output, err := resources.AsYaml()
	return string(output), err
}

// buildAsBuiltin builds the files for our kind, and returns the output with the API version of the built-in kind.
func buildAsBuiltin(t *testing.T, files tree) string {
	t.Helper()
	return asBuiltin(build(t, files.ofOurs()))
}

func asBuiltin(output string) string {
	return strings.NewReplacer(ours, builtin, ourTarget, builtinTarget).Replace(output)
}

func read(t *testing.T, file string) string {
	t.Helper()
	content, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return string(content)
}
