//go:build differential

// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package differential

import (
	"sync"
	"testing"
)

// TestScenarios plays every scenario, and prints what came of it.
func TestScenarios(t *testing.T) {
	explanations := readExplanations(t)
	playAll(t, readScenarios(t), explanations).judge(t, explanations, true)
}

// playAll plays scenarios side by side.
func playAll(t *testing.T, scenarios []scenario, explanations []explanation) *results {
	t.Helper()
	l := openLab(t)
	results := &results{byName: map[string][]difference{}, failed: map[string]bool{}}
	t.Run("all", func(t *testing.T) {
		for _, s := range scenarios {
			t.Run(s.name, func(t *testing.T) {
				t.Parallel()
				var found []difference
				defer func() { results.add(s.name, found, t.Failed()) }()
				found = l.play(t, s, explanations)
				for _, d := range found {
					t.Log(d)
				}
			})
		}
	})
	return results
}

// results are the differences that were found, by the names of the scenarios, and
// which scenarios could not be played to their end.
type results struct {
	mu     sync.Mutex
	byName map[string][]difference
	failed map[string]bool
}

func (r *results) add(scenario string, found []difference, failed bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.byName[scenario], r.failed[scenario] = found, failed
}
