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

	v1 "statefulset.dev/api/apps/v1"
)

// reasonsPage lists conditions, reasons, events and annotations, which are constants of the API.
func reasonsPage(dir string) (string, error) {
	var page strings.Builder
	page.WriteString(
		"# Conditions, reasons, events and annotations\n\nWritten from the constants of the API. How conditions go together is in [the status of a set](../status.md).\n")
	for _, part := range []struct{ title, file, prefix, text string }{
		{"Conditions", "types_status.go", "StatefulSet", ""},
		{"Reasons and events", "reasons.go", "",
			"As in apps/v1, events also have the reasons `SuccessfulCreate`, `SuccessfulUpdate`, `SuccessfulDelete`, `FailedCreate`, `FailedUpdate` and `FailedDelete`, each with the object and why."},
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
	var single group
	for _, declaration := range file.Decls {
		declared, ok := declaration.(*ast.GenDecl)
		if !ok || declared.Tok != token.CONST {
			continue
		}
		g := group{comment: declared.Doc.Text()}
		for _, spec := range declared.Specs {
			value := spec.(*ast.ValueSpec)
			name := value.Names[0].Name
			text, ok := literal(value.Values[0])
			switch {
			case !ok || !strings.HasPrefix(name, prefix):
			case !declared.Lparen.IsValid():
				single.constants = append(single.constants, constant{text, about(name, declared.Doc.Text())})
			default:
				g.constants = append(g.constants, constant{text, about(name, value.Doc.Text())})
			}
		}
		if len(g.constants) > 0 {
			all = append(all, g)
		}
	}
	if len(single.constants) > 0 {
		all = append(all, single)
	}
	if len(all) == 0 {
		return nil, fmt.Errorf("%s declares no text that begins with %q", path, prefix)
	}
	return all, nil
}

// literal is a text, or one that begins with the name of our group.
func literal(value ast.Expr) (string, bool) {
	switch value := value.(type) {
	case *ast.BasicLit:
		text, err := strconv.Unquote(value.Value)
		return text, err == nil && value.Kind == token.STRING
	case *ast.BinaryExpr:
		first, ok := value.X.(*ast.Ident)
		rest, isText := literal(value.Y)
		return v1.GroupName + rest, ok && first.Name == "GroupName" && isText
	}
	return "", false
}

// about is a comment without the name that it begins with.
func about(name, comment string) string {
	text := strings.TrimSpace(strings.TrimPrefix(strings.TrimSpace(comment), name))
	text = strings.TrimPrefix(strings.TrimSpace(strings.TrimPrefix(text, ":")), "is ")
	if text == "" {
		return text
	}
	return strings.ToUpper(text[:1]) + text[1:]
}
