// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package items_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"statefulset.dev/test/security/items"
)

const (
	root  = "../../.."
	count = 32
)

func TestEveryItemHasTestsThatExist(t *testing.T) {
	all := items.All()
	if len(all) != count {
		t.Errorf("items: got %d, want %d", len(all), count)
	}
	for i, item := range all {
		if item.Number != i+1 || item.Name == "" || len(item.Tests) == 0 {
			t.Errorf("item %d: got number %d, name %q, %d tests; want its place, a name and at least one test", i+1, item.Number, item.Name,
				len(item.Tests))
		}
		for _, test := range item.Tests {
			if !functions(t, test.Package)[test.Name] {
				t.Errorf("item %d, %s: there is no %s in %s", item.Number, item.Name, test.Name, test.Package)
			}
		}
	}
}

// A test that no item names would not run.
func TestEveryTestStandsForAnItem(t *testing.T) {
	named := map[string]bool{}
	for _, item := range items.All() {
		for _, test := range item.Tests {
			named[test.Package+"."+test.Name] = true
		}
	}
	for _, dir := range []string{items.Cluster, items.Cluster + "/supply"} {
		for name := range functions(t, dir) {
			if !named[dir+"."+name] {
				t.Errorf("%s of %s: no item names it", name, dir)
			}
		}
	}
}

// functions are the test functions of a package.
func functions(t *testing.T, dir string) map[string]bool {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(root, dir, "*_test.go"))
	if err != nil || len(files) == 0 {
		t.Fatalf("tests in %s: got %q, %v, want some", dir, files, err)
	}
	found := map[string]bool{}
	for _, file := range files {
		parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatalf("reading %s: %v", file, err)
		}
		for _, declaration := range parsed.Decls {
			if function, ok := declaration.(*ast.FuncDecl); ok && function.Recv == nil && strings.HasPrefix(function.Name.Name, "Test") &&
				function.Name.Name != "TestMain" {
				found[function.Name.Name] = true
			}
		}
	}
	return found
}

func TestTheDocumentationHasTheSameItems(t *testing.T) {
	content, err := os.ReadFile(filepath.Join(root, "docs/security.md"))
	if err != nil {
		t.Fatalf("reading the documentation: %v", err)
	}
	rows := regexp.MustCompile(`(?m)^\| *(\d+) *\| *([^|]+?) *\| *([^|]+?) *\| *([^|]+?) *\|$`).FindAllStringSubmatch(string(content), -1)
	if len(rows) != count {
		t.Fatalf("rows of the table: got %d, want %d", len(rows), count)
	}
	for i, item := range items.All() {
		var names []string
		for _, test := range item.Tests {
			names = append(names, "`"+test.Name+"`")
		}
		if name, tests := rows[i][2], rows[i][4]; name != item.Name || tests != strings.Join(names, ", ") {
			t.Errorf("row %d: got %q and %s, want %q and %s", i+1, name, tests, item.Name, strings.Join(names, ", "))
		}
	}
}
