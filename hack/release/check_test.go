// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// workTree is a repository with one commit that could be released.
func workTree(t *testing.T) *release {
	t.Helper()
	r := &release{
		source:  source{root: t.TempDir()},
		version: "v1.2.3", registry: "registry.example/team", downloads: "https://example.org/v1.2.3", vulndb: defaultVulnDB,
	}
	r.put(t, "go.mod", "module example.org\n\ngo 1.26\n\ntoolchain "+runtime.Version()+"\n")
	r.put(t, "CHANGELOG.md", "# Changelog\n\n## [Unreleased]\n\n- Next.\n\n## [1.2.3] - 2026-11-22\n\n- It works.\n")
	for _, dir := range []string{"version", "client"} {
		if err := os.Mkdir(filepath.Join(r.root, dir), 0o750); err != nil {
			t.Fatal(err)
		}
	}
	r.put(t, "client/go.mod", "module statefulset.dev/client\n\nrequire (\n\tstatefulset.dev/api v1.2.3\n)\n")
	r.put(t, "version/minor.go", "package version\n\nconst (\n\tMinor = \"1.2\"\n)\n")
	r.git(t, "init", "--quiet")
	r.commit(t)
	return r
}

func (r *release) put(t *testing.T, file, content string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(r.root, file), []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
}

func (r *release) git(t *testing.T, args ...string) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "git",
		append([]string{"-c", "user.name=somebody", "-c", "user.email=somebody@example.org"}, args...)...)
	cmd.Dir = r.root
	if output, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("git %v: %v\n%s", args, err, output)
	}
}

func (r *release) commit(t *testing.T) {
	t.Helper()
	r.git(t, "add", "--all")
	r.git(t, "commit", "--quiet", "--message", "a change")
}

func TestReleasesThatAreRefused(t *testing.T) {
	cases := map[string]struct {
		change func(*testing.T, *release)
		// want is in the message; no error is wanted if it is empty.
		want string
	}{
		"a clean commit is released": {func(*testing.T, *release) {}, ""},
		"so is one that has the tag": {func(t *testing.T, r *release) { r.git(t, "tag", r.version) }, ""},
		"so is one with an annotated tag": {
			func(t *testing.T, r *release) { r.git(t, "tag", "--annotate", "--message", "x", r.version) }, ""},
		"a candidate may be of what is next": {func(_ *testing.T, r *release) { r.version = "v1.2.4-rc.1" }, ""},
		"a minor version that servers do not take themselves for": {
			func(_ *testing.T, r *release) { r.version = "v1.3.0-rc.1" }, "the minor version in version/minor.go is 1.2"},
		"a version without its letter":    {func(_ *testing.T, r *release) { r.version = "1.2.3" }, `--version is "1.2.3"`},
		"a version with a zero before it": {func(_ *testing.T, r *release) { r.version = "v1.02.3" }, `--version is "v1.02.3"`},
		"no registry":                     {func(_ *testing.T, r *release) { r.registry = "" }, `--registry is ""`},
		"downloads without encryption": {
			func(_ *testing.T, r *release) { r.downloads = "http://example.org" }, `--downloads is "http://example.org"`},
		"a file that no commit has": {func(t *testing.T, r *release) { r.put(t, "new", "") }, "?? new"},
		"a file that was changed": {
			func(t *testing.T, r *release) { r.put(t, "CHANGELOG.md", "## [1.2.3]\n\n- Other.\n") }, "M CHANGELOG.md"},
		"a version of which nothing is told": {
			func(_ *testing.T, r *release) { r.version = "v1.2.4" }, `CHANGELOG.md has no entries below "## [1.2.4]"`},
		"a client that requires an older API": {func(t *testing.T, r *release) {
			r.put(t, "client/go.mod", "module statefulset.dev/client\n\nrequire statefulset.dev/api v1.2.2\n")
			r.commit(t)
		}, "client/go.mod requires statefulset.dev/api v1.2.2, want v1.2.3: run hack/module-version.sh v1.2.3"},
		"another toolchain": {func(t *testing.T, r *release) {
			r.put(t, "go.mod", "module example.org\n\ngo 1.1\n\ntoolchain go1.1\n")
			r.commit(t)
		}, "go.mod names go1.1"},
		"a tag that leads to an older commit": {
			func(t *testing.T, r *release) { r.git(t, "tag", r.version); r.put(t, "new", ""); r.commit(t) }, "tag v1.2.3 points to commit"},
		"an annotated tag that does so": {func(t *testing.T, r *release) {
			r.git(t, "tag", "--annotate", "--message", "x", r.version)
			r.put(t, "new", "")
			r.commit(t)
		}, "tag v1.2.3 points to commit"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			r := workTree(t)
			c.change(t, r)
			err := r.check(t.Context())
			switch {
			case c.want == "" && err != nil:
				t.Errorf("got error %v, want none", err)
			case c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)):
				t.Errorf("got error %v, want one that says %q", err, c.want)
			}
		})
	}
}

func TestNotesAreThoseOfTheVersion(t *testing.T) {
	cases := map[string]struct{ version, want string }{
		"a version has its own":                {"v1.2.3", "- It works."},
		"a candidate has what comes next":      {"v1.3.0-rc.1", "- Next."},
		"a candidate that is told of has that": {"v1.2.3-rc.1", "- Next."},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			r := workTree(t)
			r.version = c.version
			got, err := r.changes()
			if err != nil || got != c.want {
				t.Errorf("got %q and error %v, want %q", got, err, c.want)
			}
		})
	}
}
