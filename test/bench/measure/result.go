// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package measure

// Ours is the side to which goals apply.
const Ours = "ours"

// Better says which samples of a measure are better.
type Better string

// The two directions.
const (
	More Better = "more"
	Less Better = "less"
)

// Result is one measure of one case, with the samples of all measured sides.
type Result struct {
	// Case is the name that selects the case, and Title describes what happens in it.
	Case  string `json:"case"`
	Title string `json:"title"`
	// Measure is what was measured, and Unit its unit.
	Measure string `json:"measure"`
	Unit    string `json:"unit"`
	Better  Better `json:"better"`
	// Samples are the values of a side, one for each round.
	Samples map[string][]float64 `json:"samples"`
	Goals   []Goal               `json:"goals"`
}

// Goal is what a comparison of our side should achieve: with Ratio, the comparison is with the side
// Against, and with Bounded, with a fixed limit. A goal with neither only shows both sides.
type Goal struct {
	// Against is the side to compare with.
	Against string `json:"against,omitempty"`
	// Ratio is how many times as good as the other side our side should be.
	Ratio float64 `json:"ratio,omitempty"`
	// Limit is the worst value that our side should have, if Bounded.
	Limit   float64 `json:"limit,omitempty"`
	Bounded bool    `json:"bounded,omitempty"`
	// Or is an alternative goal.
	Or *Goal `json:"or,omitempty"`
}

// Verdict is the result of a goal.
type Verdict string

// A goal is met if the median meets it, and missed if no round meets it. Otherwise it is undecided,
// because another run could have ended differently.
const (
	Met       Verdict = "met"
	Undecided Verdict = "within the spread"
	Missed    Verdict = "MISSED"
	Shown     Verdict = ""
	// Unmeasured is the verdict for a goal without samples. It counts as missed.
	Unmeasured Verdict = "NOT MEASURED"
)

// Ratios returns how many times as good as another side our side was, for each round.
func (r Result) Ratios(other string) []float64 {
	ours, theirs := r.Samples[Ours], r.Samples[other]
	var ratios []float64
	for i := range min(len(ours), len(theirs)) {
		if r.Better == More {
			ratios = append(ratios, ours[i]/theirs[i])
		} else {
			ratios = append(ratios, theirs[i]/ours[i])
		}
	}
	return ratios
}

// Verdict returns the verdict for one goal of the result, or for the better one of its
// alternatives.
func (r Result) Verdict(g Goal) Verdict {
	verdict := r.verdict(g)
	if g.Or == nil || verdict == Met {
		return verdict
	}
	if other := r.Verdict(*g.Or); other == Met || other == Undecided {
		return other
	}
	return verdict
}

func (r Result) verdict(g Goal) Verdict {
	switch {
	case g.Bounded && r.Better == More:
		return judge(r.Samples[Ours], func(value float64) bool { return value >= g.Limit })
	case g.Bounded:
		return judge(r.Samples[Ours], func(value float64) bool { return value <= g.Limit })
	case g.Ratio != 0:
		return judge(r.Ratios(g.Against), func(ratio float64) bool { return ratio >= g.Ratio })
	default:
		return Shown
	}
}

func judge(values []float64, good func(float64) bool) Verdict {
	if len(values) == 0 {
		return Unmeasured
	}
	spread := SpreadOf(values)
	switch {
	case good(spread.Median):
		return Met
	case good(spread.Min) || good(spread.Max):
		return Undecided
	default:
		return Missed
	}
}
