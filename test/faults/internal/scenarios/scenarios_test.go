// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package scenarios_test

import (
	"encoding/json"
	"testing"

	"statefulset.dev/test/faults/internal/scenarios"
)

func TestEveryScenarioBeginsWithASetAndEndsWithAState(t *testing.T) {
	all := append(scenarios.All(), scenarios.Beyond()...)
	if got, want := len(all), 15+22; got != want {
		t.Errorf("there are %d scenarios, want %d", got, want)
	}
	for _, s := range all {
		if found, err := scenarios.Named(s.Name); err != nil || len(found.Steps) != len(s.Steps) {
			t.Errorf("%s: finding it by its name gives %d steps, want %d, and error %v", s.Name, len(found.Steps), len(s.Steps), err)
		}
		if _, ok := s.Steps[0].(scenarios.Create); !ok {
			t.Errorf("%s begins with %q, want %q", s.Name, s.Steps[0], scenarios.Create{})
		}
		if _, ok := s.Steps[len(s.Steps)-1].(scenarios.Wait); !ok {
			t.Errorf("%s ends with %q, want a state to wait for", s.Name, s.Steps[len(s.Steps)-1])
		}
		for _, step := range s.Steps {
			if patch, ok := step.(scenarios.Patch); ok && !json.Valid([]byte(patch)) {
				t.Errorf("%s: the patch %s is not JSON", s.Name, patch)
			}
		}
	}
}

func TestASetIsTheSameInBothGroups(t *testing.T) {
	for _, s := range scenarios.All() {
		ours, err := scenarios.Ours(s.Set)
		if err != nil {
			t.Fatalf("%s: %v", s.Name, err)
		}
		if got, want := ours.APIVersion, "apps.statefulset.dev/v1"; got != want {
			t.Errorf("%s: our set has API version %s, want %s", s.Name, got, want)
		}
		ours.TypeMeta = s.Set.TypeMeta
		if got, want := encoded(t, ours), encoded(t, s.Set); got != want {
			t.Errorf("%s: of our group the set is\n%s\nwant\n%s", s.Name, got, want)
		}
	}
}

func encoded(t *testing.T, set any) string {
	t.Helper()
	wire, err := json.Marshal(set)
	if err != nil {
		t.Fatal(err)
	}
	return string(wire)
}
