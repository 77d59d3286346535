// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package version

import (
	"os/exec"
	"path/filepath"
	"runtime/debug"
	"strings"
	"testing"
)

func TestABuildWithoutAStampSaysWhatGoNoted(t *testing.T) {
	settings := func(modified string) []debug.BuildSetting {
		return []debug.BuildSetting{
			{Key: "vcs.revision", Value: "0123456789abcdef0123456789abcdef01234567"}, {Key: "vcs.time", Value: "2026-05-01T00:00:00Z"},
			{Key: "vcs.modified", Value: modified},
		}
	}
	const commit, date = "0123456789abcdef0123456789abcdef01234567", "2026-05-01T00:00:00Z"
	cases := map[string]struct {
		main     string
		settings []debug.BuildSetting
		want     Info
	}{
		"a clean work tree":   {"(devel)", settings("false"), Info{"0123456789ab", commit, date}},
		"a changed work tree": {"(devel)", settings("true"), Info{"0123456789ab-dirty", commit, date}},
		"a work tree that go counted": {
			"v0.1.1-0.20260501000000-0123456789ab", settings("false"), Info{"v0.1.1-0.20260501000000-0123456789ab", commit, date}},
		"go install of a version": {"v0.3.0", nil, Info{"v0.3.0", "", ""}},
		"nothing noted":           {"(devel)", nil, Info{}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if got := fromBuild(&debug.BuildInfo{Main: debug.Module{Version: tc.main}, Settings: tc.settings}); got != tc.want {
				t.Errorf("got %+v, want %+v", got, tc.want)
			}
		})
	}
}

func TestTextNamesWhatIsUnknown(t *testing.T) {
	cases := map[string]struct {
		info Info
		want string
	}{
		"a release": {Info{"v0.3.0", "0123abcd", "2026-05-01T00:00:00Z"},
			"kubectl sts v0.3.0\n  commit      0123abcd\n  date        2026-05-01T00:00:00Z\n  Kubernetes  1.34 to 1.37\n"},
		"nothing": {Info{}, "kubectl sts unknown\n  commit      unknown\n  date        unknown\n  Kubernetes  1.34 to 1.37\n"},
	}
	for name, tc := range cases {
		if got := tc.info.Text("kubectl sts"); got != tc.want {
			t.Errorf("%s: got %q, want %q", name, got, tc.want)
		}
	}
}

func TestUntestedHost(t *testing.T) {
	cases := map[string]struct{ version, says string }{
		"the oldest":               {"v1.34.0", ""},
		"the newest":               {"v1.37.9", ""},
		"a vendor's":               {"v1.35.4-gke.1234000", ""},
		"another vendor's":         {"v1.36+k3s1", ""},
		"one that is too old":      {"v1.33.9", "v1.33.9 is older than the tested versions, 1.34 to 1.37"},
		"one that is too new":      {"v1.38.0-alpha.1", "v1.38.0-alpha.1 is newer than the tested versions, 1.34 to 1.37"},
		"one that is not stamped":  {"v0.0.0-master", "not a version of Kubernetes 1"},
		"nothing":                  {"", "not a version of Kubernetes 1"},
		"a major version to come":  {"v2.35.0", "not a version of Kubernetes 1"},
		"a number that overflows":  {"v1.99999999999999999999", "not a version of Kubernetes 1"},
		"a minor without a number": {"v1.x", "not a version of Kubernetes 1"},
	}
	for name, tc := range cases {
		if got := UntestedHost(tc.version); (got == "") != (tc.says == "") || !strings.Contains(got, tc.says) {
			t.Errorf("%s: got %q, want %q", name, got, tc.says)
		}
	}
}

// What the Makefile stamps must arrive: the linker says nothing about a name that is not there.
func TestTheMakefileStampsThisPackage(t *testing.T) {
	cmd := exec.CommandContext(t.Context(), "make", "--no-print-directory", "--silent", "stamp")
	cmd.Dir = ".."
	stamp, err := cmd.CombinedOutput()
	if err != nil {
		t.Skipf("make stamp: %v: %s", err, stamp)
	}
	program := filepath.Join(t.TempDir(), "stamped.test")
	if out, err := exec.CommandContext(t.Context(), "go", "test", "-c", "-o", program, "-ldflags", strings.TrimSpace(string(stamp)),
		".").CombinedOutput(); err != nil {
		t.Fatalf("building with %s: %v: %s", stamp, err, out)
	}
	out, err := exec.CommandContext(t.Context(), program, "-test.run=^TestShow$", "-test.v").CombinedOutput()
	if err != nil {
		t.Fatalf("running what was built: %v: %s", err, out)
	}
	for part := range strings.FieldsSeq(string(stamp)) {
		_, value, isValue := strings.Cut(part, "=")
		if isValue && (value == "" || !strings.Contains(string(out), value)) {
			t.Errorf("the program says %s, want %q of %q in it", out, value, part)
		}
	}
}

// TestShow prints what the test above looks for.
func TestShow(t *testing.T) { t.Log(Get().Text("this")) }
