// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package imports_test

import (
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

const (
	root     = "../.."
	maxLines = 500
	// maxColumns are those of prose.
	maxColumns = 100
	header     = "// Copyright The statefulset-apiserver Authors.\n// SPDX-License-Identifier: Apache-2.0\n"
)

// notOurs are directories of what is built or installed.
var notOurs = []string{"bin", "dist", "node_modules"}

var generated = regexp.MustCompile(`(?m)^// Code generated .* DO NOT EDIT\.$`)

func TestEveryGoFileCarriesTheLicence(t *testing.T) {
	eachGoFile(t, func(path string, content []byte) {
		// A build constraint may stand above the header in generated files.
		if !bytes.Contains(content[:min(len(content), 4*len(header))], []byte(header)) {
			t.Errorf("%s does not begin with the licence header:\n%s", path, header)
		}
	})
}

func TestNoFileIsTooLongToRead(t *testing.T) {
	eachGoFile(t, func(path string, content []byte) {
		if generated.Match(content) {
			return
		}
		if lines := bytes.Count(content, []byte("\n")); lines > maxLines {
			t.Errorf("%s has %d lines, want at most %d: split it by operation or rule", path, lines, maxLines)
		}
	})
}

// One Go type is both the version and the hub. Seen by a client as well, the hub would make its scheme ambiguous.
func TestOnlyTheServersSchemeKnowsTheInternalVersion(t *testing.T) {
	eachGoFile(t, func(path string, content []byte) {
		if generated.Match(content) || strings.HasPrefix(path, "apiserver/") || strings.HasPrefix(path, "test/imports/") {
			return
		}
		if bytes.Contains(content, []byte("APIVersionInternal")) {
			t.Errorf("%s refers to APIVersionInternal, which belongs to package apiserver", path)
		}
	})
}

// TestProseIsWrapped leaves out what cannot be broken: blocks of code, tables, and a line that is one piece of code. What a
// command has written between its marks is not prose.
func TestProseIsWrapped(t *testing.T) {
	code := regexp.MustCompile("^ *`[^`]*`[.,;:]?$")
	eachFile(t, ".md", func(path string, content []byte) {
		var fenced, written bool
		for i, line := range strings.Split(string(content), "\n") {
			start := strings.TrimLeft(line, " ")
			if strings.HasPrefix(start, "```") {
				fenced = !fenced
			}
			switch {
			case strings.HasPrefix(line, "<!-- begin: written by "):
				written = true
			case line == "<!-- end -->":
				written = false
			}
			if fenced || written || strings.HasPrefix(start, "|") || code.MatchString(line) {
				continue
			}
			if columns := utf8.RuneCountInString(line); columns > maxColumns {
				t.Errorf("%s:%d has %d columns, want at most %d: %s", path, i+1, columns, maxColumns, line)
			}
		}
	})
}

// eachGoFile calls visit with each Go file of the work tree, nested modules included.
func eachGoFile(t *testing.T, visit func(path string, content []byte)) {
	t.Helper()
	eachFile(t, ".go", visit)
}

// eachFile calls visit with each file of the work tree whose name ends so.
func eachFile(t *testing.T, extension string, visit func(path string, content []byte)) {
	t.Helper()
	err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if entry.IsDir() && path != root && (strings.HasPrefix(entry.Name(), ".") || slices.Contains(notOurs, entry.Name())) {
			return filepath.SkipDir
		}
		if entry.IsDir() || filepath.Ext(path) != extension {
			return nil
		}
		content, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		relative, err := filepath.Rel(root, path)
		if err != nil {
			return err
		}
		visit(filepath.ToSlash(relative), content)
		return nil
	})
	if err != nil {
		t.Fatalf("walking the work tree: %v", err)
	}
}
