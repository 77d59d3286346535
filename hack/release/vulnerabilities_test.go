// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestKnownVulnerabilitiesEndARelease asks a small database with govulncheck itself about a program that
// calls url.Parse. The database with a miss has a finding in a function next to it.
func TestKnownVulnerabilitiesEndARelease(t *testing.T) {
	dir := t.TempDir()
	checker := filepath.Join(dir, "govulncheck")
	tools := ofThisTree(t)
	if _, err := tools.output(t.Context(), "go", "build", "-modfile=go.tools.mod", "-o", checker,
		"golang.org/x/vuln/cmd/govulncheck"); err != nil {
		t.Fatal(err)
	}
	module := filepath.Join(dir, "module")
	if err := os.Mkdir(module, 0o750); err != nil {
		t.Fatal(err)
	}
	for name, content := range map[string]string{
		"go.mod":  "module example.org/fixture\n\ngo 1.26\n",
		"main.go": "package main\n\nimport \"net/url\"\n\nfunc main() { _, _ = url.Parse(\"x\") }\n",
	} {
		if err := os.WriteFile(filepath.Join(module, name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	here, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct{ db, want string }{
		"a miss":                          {"file://" + here + "/testdata/vulndb-miss", ""},
		"a hit":                           {"file://" + here + "/testdata/vulndb-hit", "GO-2026-9999"},
		"a directory that is not there":   {"file://" + dir + "/missing", "VULNDB=file:///DIRECTORY"},
		"a directory without a database":  {"file://" + module, "VULNDB=file:///DIRECTORY"},
		"a server that cannot be reached": {"https://127.0.0.1:1", "checking https://127.0.0.1:1 for vulnerabilities"},
	} {
		t.Run(name, func(t *testing.T) {
			err := checkModule(t.Context(), checker, c.db, module, ".")
			if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
				t.Errorf("got error %v, want one that says %q", err, c.want)
			}
		})
	}
}

func TestAVersionTellsWhetherItWasChecked(t *testing.T) {
	for name, c := range map[string]struct {
		version, vulndb string
		unchecked       bool
		want            string
	}{
		"checked":                          {"v1.2.3", defaultVulnDB, false, ""},
		"checked by a local copy":          {"v1.2.3", "file:///vulndb", false, ""},
		"unchecked":                        {"v1.2.3-unchecked", "", true, ""},
		"a candidate, unchecked":           {"v1.2.3-rc.1-unchecked", "", true, ""},
		"unchecked, and does not say so":   {"v1.2.3", "", true, `--version is "v1.2.3" and --unchecked is true`},
		"checked, and says that it is not": {"v1.2.3-unchecked", defaultVulnDB, false, "--unchecked is false"},
		"a database without TLS":           {"v1.2.3", "http://vuln.go.dev", false, `--vulndb is "http://vuln.go.dev"`},
		"a relative directory":             {"v1.2.3", "vulndb", false, `--vulndb is "vulndb"`},
		"no database":                      {"v1.2.3", "", false, `--vulndb is ""`},
	} {
		t.Run(name, func(t *testing.T) {
			r := workTree(t)
			r.version, r.vulndb, r.unchecked = c.version, c.vulndb, c.unchecked
			err := r.check(context.WithoutCancel(t.Context()))
			if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
				t.Errorf("got error %v, want one that says %q", err, c.want)
			}
		})
	}
}

func TestWhatWasNotCheckedIsNotPushed(t *testing.T) {
	err := runPush(t.Context(), []string{"--registry=127.0.0.1:1", "--tag=v1.2.3-unchecked"}, &bytes.Buffer{})
	if err == nil || !strings.Contains(err.Error(), `--tag is "v1.2.3-unchecked"`) {
		t.Errorf("got error %v, want one that names the tag", err)
	}
}
