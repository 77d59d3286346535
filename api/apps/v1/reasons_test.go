// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package v1

import (
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// TestEveryReasonIsDocumented compares the reasons in the code with the table of the
// docs, both ways.
func TestEveryReasonIsDocumented(t *testing.T) {
	page, err := os.ReadFile("../../../docs/status.md")
	if err != nil {
		t.Fatal(err)
	}
	_, table, _ := strings.Cut(string(page), "## Reasons\n")
	table, _, _ = strings.Cut(table, "\n## ")
	documented := map[string]bool{}
	for _, row := range regexp.MustCompile(`(?m)^\| ([A-Z]\w+) \| .+ \| .+ \|$`).FindAllStringSubmatch(table, -1) {
		documented[row[1]] = true
	}
	defined := reasons(t)
	for reason := range defined {
		if !documented[reason] {
			t.Errorf("docs/status.md does not have the reason %s", reason)
		}
	}
	for reason := range documented {
		if !defined[reason] {
			t.Errorf("docs/status.md has the reason %s; the code has %v", reason, slices.Sorted(maps.Keys(defined)))
		}
	}
}

// reasons are the values of the constants of reasons.go.
func reasons(t *testing.T) map[string]bool {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), "reasons.go", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]bool{}
	ast.Inspect(file, func(node ast.Node) bool {
		if literal, ok := node.(*ast.BasicLit); ok && literal.Kind == token.STRING {
			value, err := strconv.Unquote(literal.Value)
			if err != nil {
				t.Fatal(err)
			}
			all[value] = true
		}
		return true
	})
	return all
}
