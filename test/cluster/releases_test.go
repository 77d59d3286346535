// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestWhichReleaseIsStarted(t *testing.T) {
	cases := map[string]struct {
		given, current string
		want, refusal  string
	}{
		"nothing given for a new cluster: the newest":       {"", "", "1.37", ""},
		"nothing given for one that is there: its own":      {"", "1.34", "1.34", ""},
		"a version for a new cluster":                       {"1.35", "", "1.35", ""},
		"a newer version for one that is there: an upgrade": {"1.37", "1.34", "1.37", ""},
		"an older version for one that is there":            {"1.34", "1.37", "", "may not be able to read what that stored"},
		"a version that is not there": {
			"1.33", "", "", `--kubernetes "1.33" is not a supported version: want one of 1.34, 1.35, 1.36, 1.37`},
		"a patch version": {"1.34.10", "", "", "want one of 1.34, 1.35, 1.36, 1.37"},
		"a cluster of a version that this program has no more": {"", "1.20", "", "was created with Kubernetes 1.20"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			s := testSupervisor(t, dir)
			s.state.Kubernetes = tc.current
			if err := s.state.save(); err != nil {
				t.Fatal(err)
			}
			got, err := releaseFor(dir, tc.given)
			if tc.refusal != "" {
				if err == nil || !strings.Contains(err.Error(), tc.refusal) || strings.Contains(err.Error(), "\n") {
					t.Errorf("got %v and error %v, want one line with %q", got, err, tc.refusal)
				}
				return
			}
			if err != nil || got.String() != tc.want {
				t.Errorf("got %v and error %v, want %s", got, err, tc.want)
			}
		})
	}
}

func TestEveryReleaseHasItsModule(t *testing.T) {
	for _, r := range releases() {
		gomod, err := os.ReadFile(filepath.Join("modules", r.module, "go.mod"))
		if err != nil {
			t.Errorf("release %s: %v", r, err)
			continue
		}
		if got, want := requiredVersion(string(gomod), "k8s.io/kubernetes"), "v"+r.String()+"."; !strings.HasPrefix(got, want) {
			t.Errorf("release %s: its module pins %s, want %sX", r, got, want)
		}
	}
}

func TestGatesGoToTheReleaseThatHasThem(t *testing.T) {
	const recreate = "--feature-gates=StatefulSetRecreateStrategy=true"
	for _, r := range releases() {
		l := layout{dir: "/c", ports: usualPorts(), kubernetes: r}
		for _, c := range []component{l.apiserver(nil), l.controllerManager(nil)} {
			got, want := strings.Contains(strings.Join(c.args, " "), recreate), r.minor == 37
			if got != want {
				t.Errorf("%s of %s gets %s: got %v, want %v: older ones end at a gate that they do not know", c.name, r, recreate, got, want)
			}
		}
	}
}

func TestAnUpgradeIsRememberedBeforeAnythingIsWritten(t *testing.T) {
	dir := t.TempDir()
	s := testSupervisor(t, dir)
	s.state.Kubernetes = "1.34"
	s.kubernetes = newestRelease()
	if err := s.upgrade(); err != nil {
		t.Fatal(err)
	}
	again, err := loadState(dir)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := again.Kubernetes, newestRelease().String(); got != want {
		t.Errorf("the directory says %q, want %q: an older one must not be started on it any more", got, want)
	}
}
