// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package measure

import (
	"strings"
	"testing"
	"time"
)

func example() *Run {
	return &Run{
		Begun: time.Date(2026, 11, 22, 9, 0, 0, 0, time.UTC), Commit: "0123abc", Rounds: 3, Scale: 1, Busy: []float64{0.01, 0.02},
		Machine: Machine{Processor: "a processor", Cores: 2, Memory: "24 GiB", System: "Linux 6.18", Kubernetes: "v1.37.1"},
		Results: []Result{
			{
				Case: "parallel", Measure: "members", Unit: "per second", Better: More,
				Samples: map[string][]float64{Ours: {900, 1000, 1100}, "built-in": {500, 500, 500}},
				Goals:   []Goal{{Against: "built-in", Ratio: 2}, {Against: "bare client", Ratio: 0.85}},
			},
			{
				Case: "parallel", Measure: "host writes", Unit: "per member", Better: Less,
				Samples: map[string][]float64{Ours: {1, 1, 1}, "built-in": {1.25, 1.5, 1.25}},
				Goals:   []Goal{{Bounded: true, Limit: 0.5}, {Against: "built-in"}},
			},
			{
				Case: "quiet", Measure: "processor", Unit: "ms", Better: Less,
				Samples: map[string][]float64{Ours: {0, 0, 1}, "built-in": {0.5, 0, 0.5}},
				Goals:   []Goal{{Against: "built-in"}},
			},
		},
	}
}

const exampleTable = `
| case     | measure                 | ours             | against     | theirs            | ratio              | target   | verdict      |
|---       |---                      |---               |---          |---                |---                 |---       |---           |
| parallel | members, per second     | 1000 (900..1100) | built-in    | 500               | 2x (1.80..2.20)    | >= 2x    | met          |
| parallel | members, per second     | 1000 (900..1100) | bare client | -                 | -                  | >= 0.85x | NOT MEASURED |
| parallel | host writes, per member | 1                | -           | -                 | -                  | <= 0.50  | MISSED       |
| parallel | host writes, per member | 1                | built-in    | 1.25 (1.25..1.50) | 1.25x (1.25..1.50) | -        | -            |
| quiet    | processor, ms           | 0 (0..1)         | built-in    | 0.50 (0..0.50)    | -                  | -        | -            |
`

func TestTable(t *testing.T) {
	if got, want := example().Table(), strings.TrimPrefix(exampleTable, "\n"); got != want {
		t.Errorf("the table: got\n%s\nwant\n%s", got, want)
	}
}

func TestMissedTellsWhatWasNotMeasuredToo(t *testing.T) {
	got := strings.Join(example().Missed([]string{"parallel"}), "\n")
	for _, want := range []string{"0.85x, NOT MEASURED", "0.50, MISSED"} {
		if !strings.Contains(got, want) {
			t.Errorf("missed: got\n%s\nwant a line with %q", got, want)
		}
	}
	if lines := strings.Count(got, "\n") + 1; lines != 2 {
		t.Errorf("missed: got %d lines, want 2:\n%s", lines, got)
	}
	if others := example().Missed([]string{"ordered"}); len(others) > 0 {
		t.Errorf("missed by cases that were not run: got %q, want none", others)
	}
}
