// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package sim

import (
	"maps"
	"os"
	"slices"
	"testing"

	"statefulset.dev/test/faults/internal/row"
	"statefulset.dev/test/faults/internal/scenarios"
)

// full reports whether everything is to be played, and not only a sample.
func full() bool { return os.Getenv("SIM") == "full" }

func fullOr(all, sample int) int {
	if full() {
		return all
	}
	return sample
}

// eachScenario makes the trials of every scenario, from what it does without faults.
func eachScenario(t *testing.T, trials func(scenarios.Scenario, verdict) []trial) (all []trial) {
	t.Helper()
	for _, scenario := range everything() {
		all = append(all, trials(scenario, peaceful(t, scenario))...)
	}
	return all
}

// report plays the trials, and adds a line to the table that FAULTS_TABLE names.
func report(t *testing.T, fault string, trials []trial, detail string) {
	t.Helper()
	violations := judgeAll(t, trials)
	if os.Getenv("SIM_RUN") == "" {
		row.Report(t, row.Row{Fault: fault, Side: "ours", Where: "simulator", Runs: len(trials), Violations: violations, Detail: detail})
	}
}

func sortedKeys[V any](of map[string]V) []string { return slices.Sorted(maps.Keys(of)) }
