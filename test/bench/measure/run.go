// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package measure

import (
	"cmp"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"
)

// Run is one run of the benchmarks.
type Run struct {
	Begun  time.Time `json:"begun"`
	Commit string    `json:"commit"`
	// Measured is a digest of what is measured and of what measures it. Many commits do not change
	// it.
	Measured string  `json:"measured"`
	Machine  Machine `json:"machine"`
	Rounds   int     `json:"rounds"`
	// Scale is the fraction of the default sizes that was run.
	Scale float64 `json:"scale"`
	// Busy is the fraction of the processors that other programs used, before each case.
	Busy    []float64 `json:"busy"`
	Results []Result  `json:"results"`
}

// Machine describes the machine of the run.
type Machine struct {
	Processor  string `json:"processor"`
	Cores      int    `json:"cores"`
	Memory     string `json:"memory"`
	System     string `json:"system"`
	Kubernetes string `json:"kubernetes"`
}

// quiet is the fraction of the processors that other programs may use in a run whose figures count.
const quiet = 0.1

// Provisional returns why the figures are not reliable, and "" if they are.
func (r *Run) Provisional() string {
	var reasons []string
	if busy := SpreadOf(r.Busy); !(busy.Max <= quiet) {
		reasons = append(reasons, fmt.Sprintf("other programs took %.0f %% to %.0f %% of the processors", 100*busy.Min, 100*busy.Max))
	}
	if r.Scale != 1 {
		reasons = append(reasons, fmt.Sprintf("the sizes were %s of the default sizes", digits(r.Scale)))
	}
	if r.Rounds < 3 {
		reasons = append(reasons, fmt.Sprintf("there were %d rounds", r.Rounds))
	}
	return strings.Join(reasons, ", ")
}

// Page returns the run in Markdown: the machine, the time, and the table.
func (r *Run) Page() string {
	var out strings.Builder
	m := r.Machine
	fmt.Fprintf(&out, "Commit %s, %s, %d rounds, on %d cores of %s with %s, %s, Kubernetes %s.\n",
		r.Commit, r.Begun.UTC().Format(time.DateOnly), r.Rounds, m.Cores, m.Processor, m.Memory, m.System, m.Kubernetes)
	if why := r.Provisional(); why != "" {
		fmt.Fprintf(&out, "\n**Provisional**: %s.\n", why)
	}
	fmt.Fprintf(&out, "\n%s", r.Table())
	return out.String()
}

// Continue adds the results of an earlier run for cases that this one omits, if both have the same
// code, machine, rounds and sizes. All cases take hours, so they can be run one after the other.
func (r *Run) Continue(earlier *Run, chosen []string) {
	if earlier.Measured != r.Measured || earlier.Machine != r.Machine || earlier.Rounds != r.Rounds || earlier.Scale != r.Scale {
		return
	}
	r.Busy = append(slices.Clone(earlier.Busy), r.Busy...)
	for _, result := range earlier.Results {
		if !slices.Contains(chosen, result.Case) {
			r.Results = append(r.Results, result)
		}
	}
}

// Order sorts the results by their cases.
func (r *Run) Order(cases []string) {
	slices.SortStableFunc(r.Results, func(a, b Result) int {
		return cmp.Compare(slices.Index(cases, a.Case), slices.Index(cases, b.Case))
	})
}

// Save writes the run to a file that Load reads.
func (r *Run) Save(path string) error {
	raw, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return fmt.Errorf("encoding the run: %w", err)
	}
	if err := os.WriteFile(path, append(raw, '\n'), 0o600); err != nil {
		return fmt.Errorf("writing the run: %w", err)
	}
	return nil
}

// Load reads what Save wrote.
func Load(path string) (*Run, error) {
	raw, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("reading the run: %w", err)
	}
	var run Run
	if err := json.Unmarshal(raw, &run); err != nil {
		return nil, fmt.Errorf("reading the run in %s: %w", path, err)
	}
	return &run, nil
}
