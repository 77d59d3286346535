// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package argocd

import (
	"path/filepath"
	"regexp"
	"testing"
)

// TestHealth runs health.lua on every set of health_test.yaml.
func TestHealth(t *testing.T) {
	if *update {
		writeTestData(t)
	}
	var cases struct {
		Tests []struct {
			HealthStatus struct{ Status, Message string }
			InputPath    string
		}
	}
	read(t, "health_test.yaml", &cases)
	tested := map[string]bool{}
	for _, c := range cases.Tests {
		t.Run(filepath.Base(c.InputPath), func(t *testing.T) {
			tested[filepath.Base(c.InputPath)] = true
			var obj map[string]any
			read(t, c.InputPath, &obj)
			got := text(t, run(t, "health.lua", obj))
			if want := text(t, map[string]any{"status": c.HealthStatus.Status, "message": c.HealthStatus.Message}); got != want {
				t.Errorf("got %s, want %s", got, want)
			}
		})
	}
	files, err := filepath.Glob(filepath.Join(scripts, "testdata", "*.yaml"))
	if err != nil || len(files) == 0 {
		t.Fatalf("finding test data: %v, %d found", err, len(files))
	}
	for _, file := range files {
		if !tested[filepath.Base(file)] {
			t.Errorf("no test of health_test.yaml uses %s", file)
		}
	}
}

// TestStatusesAreThoseOfThePlanner compares the test data with what the planner says now.
func TestStatusesAreThoseOfThePlanner(t *testing.T) {
	for name, set := range sets(t) {
		var stored map[string]any
		read(t, filepath.Join("testdata", name+".yaml"), &stored)
		if got, want := text(t, stored), text(t, plain(t, set)); got != want {
			t.Errorf("testdata/%s.yaml is\n%s\nwant, from the planner,\n%s\nrun the test with -update", name, got, want)
		}
	}
}

// TestActions runs the actions on the sets of action_test.yaml.
func TestActions(t *testing.T) {
	var cases struct {
		DiscoveryTests []struct {
			InputPath string
			Result    []struct{ Name string }
		}
		ActionTests []struct{ Action, InputPath, ExpectedOutputPath string }
	}
	read(t, "actions/action_test.yaml", &cases)
	if len(cases.DiscoveryTests) == 0 || len(cases.ActionTests) == 0 {
		t.Fatal("actions/action_test.yaml has no tests")
	}
	for _, c := range cases.DiscoveryTests {
		var obj map[string]any
		read(t, filepath.Join("actions", c.InputPath), &obj)
		want := map[string]any{}
		for _, action := range c.Result {
			want[action.Name] = map[string]any{}
		}
		if got, want := text(t, run(t, "actions/discovery.lua", obj)), text(t, want); got != want {
			t.Errorf("actions on %s: got %s, want %s", c.InputPath, got, want)
		}
	}
	now := regexp.MustCompile(`\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ`)
	for _, c := range cases.ActionTests {
		var obj, want map[string]any
		read(t, filepath.Join("actions", c.InputPath), &obj)
		read(t, filepath.Join("actions", c.ExpectedOutputPath), &want)
		got := now.ReplaceAllString(text(t, run(t, "actions/"+c.Action+"/action.lua", obj)), "0001-01-01T00:00:00Z")
		if want := text(t, want); got != want {
			t.Errorf("%s of %s: got %s, want %s", c.Action, c.InputPath, got, want)
		}
	}
}
