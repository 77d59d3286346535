// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package measure

import (
	"slices"
	"testing"
)

func TestVerdicts(t *testing.T) {
	const other = "built-in"
	twice := Goal{Against: other, Ratio: 2}
	for sentence, test := range map[string]struct {
		better       Better
		ours, theirs []float64
		goal         Goal
		want         Verdict
	}{
		"a median above the target is met":                  {More, []float64{19, 21, 22}, []float64{10, 10, 10}, twice, Met},
		"a median below, and a round above, is undecided":   {More, []float64{18, 19, 21}, []float64{10, 10, 10}, twice, Undecided},
		"no round at the target is a miss":                  {More, []float64{18, 19, 19}, []float64{10, 10, 10}, twice, Missed},
		"of a time, less is better":                         {Less, []float64{10, 11, 12}, []float64{24, 24, 25}, twice, Met},
		"of a time, more is a miss":                         {Less, []float64{24, 24, 25}, []float64{10, 11, 12}, twice, Missed},
		"rounds are compared with themselves":               {More, []float64{2, 20, 200}, []float64{1, 10, 100}, twice, Met},
		"a limit holds for our side alone":                  {Less, []float64{0.9, 1, 1.2}, nil, Goal{Bounded: true, Limit: 1}, Met},
		"a limit of zero is a limit":                        {Less, []float64{1, 2, 3}, nil, Goal{Bounded: true}, Missed},
		"a limit that some rounds keep":                     {Less, []float64{0.9, 1.1, 1.2}, nil, Goal{Bounded: true, Limit: 1}, Undecided},
		"what is not there cannot be met":                   {More, []float64{1}, nil, twice, Unmeasured},
		"a comparison without a target has nothing to meet": {More, []float64{1}, []float64{9}, Goal{Against: other}, Shown},
	} {
		t.Run(sentence, func(t *testing.T) {
			r := Result{Better: test.better, Samples: map[string][]float64{Ours: test.ours, other: test.theirs}}
			if got := r.Verdict(test.goal); got != test.want {
				t.Errorf("ours %v, theirs %v: got %q, want %q", test.ours, test.theirs, got, test.want)
			}
		})
	}
}

func TestRatiosEndWithTheShorterSide(t *testing.T) {
	r := Result{Better: More, Samples: map[string][]float64{Ours: {4, 6, 8}, "built-in": {2, 2}}}
	if got, want := r.Ratios("built-in"), []float64{2, 3}; !slices.Equal(got, want) {
		t.Errorf("ratios: got %v, want %v", got, want)
	}
}

func TestAnAlternativeIsGoodEnough(t *testing.T) {
	goal := Goal{Against: "built-in", Ratio: 0.85, Or: &Goal{Against: "empty handler", Ratio: 0.87}}
	for sentence, test := range map[string]struct {
		builtIn, empty []float64
		want           Verdict
	}{
		"the goal itself is met":          {[]float64{10}, []float64{99}, Met},
		"the alternative is met":          {[]float64{99}, []float64{10}, Met},
		"neither is":                      {[]float64{99}, []float64{99}, Missed},
		"the alternative is undecided":    {[]float64{99, 99, 99}, []float64{10, 99, 99}, Undecided},
		"the alternative is not measured": {[]float64{99}, nil, Missed},
	} {
		t.Run(sentence, func(t *testing.T) {
			ours := make([]float64, len(test.builtIn))
			for i := range ours {
				ours[i] = 10
			}
			r := Result{Better: More, Samples: map[string][]float64{Ours: ours, "built-in": test.builtIn, "empty handler": test.empty}}
			if got := r.Verdict(goal); got != test.want {
				t.Errorf("built-in %v, empty handler %v: got %q, want %q", test.builtIn, test.empty, got, test.want)
			}
		})
	}
}
