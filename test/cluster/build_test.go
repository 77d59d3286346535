// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const testModule = "module example.org/m\n\ngo 1.26\n\nrequire example.org/pinned v1.2.3\n"

func writeModule(t *testing.T, gosum string) (modulesDir string) {
	t.Helper()
	dir := t.TempDir()
	for name, text := range map[string]string{"go.mod": testModule, "go.sum": gosum} {
		if err := writeFile(filepath.Join(dir, "m", name), []byte(text)); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func testPlan(t *testing.T, gosum, toolchain string, stamp func(string) string) plan {
	t.Helper()
	m := module{name: "m", pinned: "example.org/pinned", stamp: stamp, binaries: []binary{{"tool", "example.org/m"}}}
	p, err := newPlan(m, writeModule(t, gosum), "/cache", toolchain)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestBuildKeyFollowsItsInputs(t *testing.T) {
	base := testPlan(t, "sum", "go1.26.8", nil)
	if got, want := base.version, "v1.2.3"; got != want {
		t.Errorf("version: got %q, want %q", got, want)
	}
	cases := map[string]struct {
		other plan
		same  bool
	}{
		"the same inputs":   {testPlan(t, "sum", "go1.26.8", nil), true},
		"another go.sum":    {testPlan(t, "other", "go1.26.8", nil), false},
		"another toolchain": {testPlan(t, "sum", "go1.27.0", nil), false},
		"another stamp":     {testPlan(t, "sum", "go1.26.8", kubernetesStamp), false},
	}
	for name, tc := range cases {
		if got := tc.other.target == base.target; got != tc.same {
			t.Errorf("%s: got %s and %s, want equal: %v", name, tc.other.target, base.target, tc.same)
		}
	}
}

func TestKubernetesStampCarriesTheVersion(t *testing.T) {
	stamp := kubernetesStamp("v1.37.1")
	for _, want := range []string{"version.gitVersion=v1.37.1", "version.gitMajor=1", "version.gitMinor=37"} {
		if !strings.Contains(stamp, want) {
			t.Errorf("flags: got %q, want %q in them", stamp, want)
		}
	}
}

func TestAnUnfinishedBinaryIsMissing(t *testing.T) {
	p := plan{target: t.TempDir(), module: module{binaries: []binary{{"tool", "example.org/m"}}}}
	if err := os.WriteFile(filepath.Join(p.target, ".tool.partial"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if got := len(p.missing()); got != 1 {
		t.Errorf("missing binaries beside an unfinished one: got %d, want 1", got)
	}
}

func TestFailedBuildShowsTheCompiler(t *testing.T) {
	source := t.TempDir()
	for name, text := range map[string]string{
		"go.mod": "module example.org/m\n\ngo 1.26\n", "main.go": "package main\n\nfunc main() { undefinedThing() }\n"} {
		if err := os.WriteFile(filepath.Join(source, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	b := binary{"tool", "example.org/m"}
	p := plan{module: module{binaries: []binary{b}}, version: "v1", source: source, target: t.TempDir()}
	err := buildModule(t.Context(), p, io.Discard)
	if err == nil || !strings.Contains(err.Error(), "undefined: undefinedThing") || !strings.Contains(err.Error(), "tool v1") {
		t.Errorf("building a program with a mistake: got %v, want the compiler's message and the program's name", err)
	}
	if got := len(p.missing()); got != 1 {
		t.Errorf("missing after a failed build: got %d, want 1", got)
	}
}
