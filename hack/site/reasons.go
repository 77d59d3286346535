// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"strconv"
	"strings"
)

// reasonsPage lists conditions, reasons, events and annotations, which are constants of the API.
func reasonsPage(dir string) (string, error) {
	var page strings.Builder
	page.WriteString("# Conditions, reasons, events and annotations\n\nWritten from the constants of the API. How conditions go together is in [the status of a set](../status.md).\n")
	for _, part := range []struct{ title, file, prefix, text string }{
		{"Conditions", "types_status.go", "StatefulSet", ""},
		{"Reasons and events", "reasons.go", "", "As in apps/v1, events also have the reasons `SuccessfulCreate`, `SuccessfulUpdate`, `SuccessfulDelete`, `FailedCreate`, `FailedUpdate` and `FailedDelete`, each with the object and why."},
		{"Annotations and labels", "annotations.go", "", ""},
	} {
		groups, err := constants(filepath.Join(dir, part.file), part.prefix)
		if err != nil {
			return "", err
		}
		fmt.Fprintf(&page, "\n## %s\n", part.title)
		for _, g := range groups {
			if g.comment != "" {
				fmt.Fprintf(&page, "\n%s\n", plain(strings.TrimSpace(g.comment)))
			}
			page.WriteString("\n| | |\n|---|---|\n")
			for _, c := range g.constants {
				fmt.Fprintf(&page, "| `%s` | %s |\n", c.value, cell(strings.ReplaceAll(c.comment, "\n", " ")))
			}
		}
		if part.text != "" {
			fmt.Fprintf(&page, "\n%s\n", part.text)
		}
	}
	return page.String(), nil
}

type group struct {
	comment   string
	constants []constant
}

type constant struct{ value, comment string }

// constants are the texts that a file declares, if their name has the prefix, with what their comments say of them.
func constants(path, prefix string) ([]group, error) {
	file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		return nil, fmt.Errorf("reading %s: %w", path, err)
	}
	var all []group
	for _, declaration := range file.Decls {
		declared, ok := declaration.(*ast.GenDecl)
		if !ok || declared.Tok != token.CONST {
			continue
		}
		g := group{comment: declared.Doc.Text()}
		for _, spec := range declared.Specs {
			value := spec.(*ast.ValueSpec)
			literal, ok := value.Values[0].(*ast.BasicLit)
			if !ok || !strings.HasPrefix(value.Names[0].Name, prefix) {
				continue
			}
			text, err := strconv.Unquote(literal.Value)
			if err != nil {
				continue // a number
			}
			g.constants = append(g.constants, constant{text, about(value.Names[0].Name, value.Doc.Text())})
		}
		if len(g.constants) > 0 {
			all = append(all, g)
		}
	}
	if len(all) == 0 {
		return nil, fmt.Errorf("%s declares no constant that begins with %q", path, prefix)
	}
	return all, nil
}

// about is a comment without the name that it begins with.
func about(name, comment string) string {
	text := strings.TrimSpace(strings.TrimPrefix(strings.TrimSpace(comment), name))
	text = strings.TrimSpace(strings.TrimPrefix(text, ":"))
	if text == "" {
		return text
	}
	return strings.ToUpper(text[:1]) + text[1:]
}
