// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package component

import (
	"context"
	"fmt"
	"go/ast"
	"go/constant"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	ktypes "sigs.k8s.io/kustomize/api/types"
	"sigs.k8s.io/kustomize/kyaml/resid"
	"sigs.k8s.io/yaml"
)

// tables are a transformer configuration: which fields of which kinds each transformer changes.
type tables struct {
	CommonLabels      []ktypes.FieldSpec `json:"commonLabels,omitempty"`
	TemplateLabels    []ktypes.FieldSpec `json:"templateLabels,omitempty"`
	CommonAnnotations []ktypes.FieldSpec `json:"commonAnnotations,omitempty"`
	NamePrefix        []ktypes.FieldSpec `json:"namePrefix,omitempty"`
	NameSuffix        []ktypes.FieldSpec `json:"nameSuffix,omitempty"`
	Namespace         []ktypes.FieldSpec `json:"namespace,omitempty"`
	Images            []ktypes.FieldSpec `json:"images,omitempty"`
	Replicas          []ktypes.FieldSpec `json:"replicas,omitempty"`
	VarReference      []ktypes.FieldSpec `json:"varReference,omitempty"`
	NameReference     []references       `json:"nameReference,omitempty"`
	// VolumeClaimTemplateLabels are not written, because kustomize before api v0.21.2, and
	// therefore kubectl 1.37, refuses the key.
	VolumeClaimTemplateLabels []ktypes.FieldSpec `json:"volumeClaimTemplateLabels,omitempty"`
}

// references are the fields that name objects of one kind.
type references struct {
	resid.Gvk  `json:",inline"`
	FieldSpecs []ktypes.FieldSpec `json:"fieldSpecs"`
}

// builtinTables reads the tables that are compiled into kustomize. No exported function returns
// them, so it reads them from the constants of its source, in the version that this module
// requires.
func builtinTables(ctx context.Context) (tables, error) {
	dir, err := kustomizeSource(ctx)
	if err != nil {
		return tables{}, err
	}
	texts, err := constants(filepath.Join(dir, "internal", "konfig", "builtinpluginconsts"))
	if err != nil {
		return tables{}, err
	}
	var all tables
	for name, text := range texts {
		if !strings.HasSuffix(name, "FieldSpecs") || name == "metadataLabelsFieldSpecs" {
			continue // it is a part of other tables
		}
		if err := yaml.UnmarshalStrict([]byte(text), &all); err != nil {
			return tables{}, fmt.Errorf("parsing kustomize's table %s: %w", name, err)
		}
	}
	if len(all.CommonLabels) == 0 || len(all.TemplateLabels) == 0 || len(all.NameReference) == 0 {
		return tables{}, fmt.Errorf("reading kustomize's tables: found no labels or no references in %s", dir)
	}
	return all, nil
}

func kustomizeSource(ctx context.Context) (string, error) {
	out, err := exec.CommandContext(ctx, "go", "list", "-m", "-f", "{{.Dir}}", "sigs.k8s.io/kustomize/api").Output()
	if err != nil {
		return "", fmt.Errorf("finding kustomize's source: %w", err)
	}
	return strings.TrimSpace(string(out)), nil
}

// constants returns the constant texts of a package by their names.
func constants(dir string) (map[string]string, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, fmt.Errorf("reading kustomize's tables: %w", err)
	}
	set := token.NewFileSet()
	var files []*ast.File
	for _, entry := range entries {
		if filepath.Ext(entry.Name()) != ".go" || strings.HasSuffix(entry.Name(), "_test.go") {
			continue
		}
		file, err := parser.ParseFile(set, filepath.Join(dir, entry.Name()), nil, 0)
		if err != nil {
			return nil, fmt.Errorf("parsing kustomize's tables: %w", err)
		}
		files = append(files, file)
	}
	config := types.Config{Importer: importer.ForCompiler(set, "source", nil)}
	pkg, err := config.Check(dir, set, files, nil)
	if err != nil {
		return nil, fmt.Errorf("evaluating kustomize's tables: %w", err)
	}
	texts := map[string]string{}
	for _, name := range pkg.Scope().Names() {
		if c, ok := pkg.Scope().Lookup(name).(*types.Const); ok && c.Val().Kind() == constant.String {
			texts[name] = constant.StringVal(c.Val())
		}
	}
	return texts, nil
}
