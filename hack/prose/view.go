// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
)

// fewestWords are the words that make a text a sentence. Names and keys have fewer.
const fewestWords = 3

// verb is a verb of fmt, which stands for a word.
var verb = regexp.MustCompile(`%[-+# 0-9.]*[a-zA-Z]`)

// writeViews writes what users and maintainers read of Go files, each to a file of the same path below a directory with
// .md at its end: string literals that are sentences, and comments, each in its line. So Vale names the line of the code.
func writeViews(out string, paths []string) error {
	for _, path := range paths {
		content, err := os.ReadFile(path)
		if err != nil {
			return fmt.Errorf("reading code: %w", err)
		}
		text, err := view(path, content)
		if err != nil {
			return err
		}
		file := filepath.Join(out, path+".md")
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			return fmt.Errorf("writing a view: %w", err)
		}
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			return fmt.Errorf("writing a view: %w", err)
		}
	}
	return nil
}

// view has as many lines as the code, and in each of them the text that begins there.
func view(path string, content []byte) (string, error) {
	files := token.NewFileSet()
	file, err := parser.ParseFile(files, path, content, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		return "", fmt.Errorf("reading code: %w", err)
	}
	lines := make([]string, strings.Count(string(content), "\n")+2)
	put := func(pos token.Pos, text string) {
		for i, line := range strings.Split(text, "\n") {
			if at := files.Position(pos).Line + i; at < len(lines) {
				lines[at] += line + " "
			}
		}
	}
	ast.Inspect(file, func(n ast.Node) bool {
		if literal, ok := n.(*ast.BasicLit); ok && literal.Kind == token.STRING {
			text, err := strconv.Unquote(literal.Value)
			if err == nil && len(strings.Fields(text)) >= fewestWords {
				put(literal.Pos(), readable(text))
			}
		}
		if field, ok := n.(*ast.Field); ok && field.Tag != nil {
			field.Tag = nil
		}
		return true
	})
	for _, group := range file.Comments {
		for _, comment := range group.List {
			if !strings.HasPrefix(comment.Text, "//go:") && !strings.HasPrefix(comment.Text, "//nolint") {
				put(comment.Pos(), readable(strings.TrimPrefix(comment.Text, "//")))
			}
		}
	}
	return strings.Join(lines[1:], "\n"), nil
}

// readable is a text without what Markdown or fmt would read in it.
func readable(text string) string {
	return strings.NewReplacer("`", "'", "<", "(", ">", ")", "|", "/").Replace(strings.TrimSpace(verb.ReplaceAllString(text, "X")))
}
