// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package measure

// Ours is the side that goals are about.
const Ours = "ours"

// Better says which samples of a measure are the better ones.
type Better string

// The two directions.
const (
	More Better = "more"
	Less Better = "less"
)

// Result is one measure of one case, by all sides that it was taken of.
type Result struct {
	// Case is the name by which the case can be chosen, and Title tells what happens in it.
	Case  string `json:"case"`
	Title string `json:"title"`
	// Measure is what was measured, in which unit.
	Measure string `json:"measure"`
	Unit    string `json:"unit"`
	Better  Better `json:"better"`
	// Samples are the values of a side, one for each round.
	Samples map[string][]float64 `json:"samples"`
	Goals   []Goal               `json:"goals"`
}

// Goal is what a comparison of our side should come to: with a ratio, it is with the
// side that is named, and otherwise with a fixed limit. A goal with neither only shows
// both sides.
type Goal struct {
	// Against is the side to compare with.
	Against string `json:"against,omitempty"`
	// Ratio is how many times as good as the other side ours should be.
	Ratio float64 `json:"ratio,omitempty"`
	// Limit is the worst value that ours should have, if Bounded.
	Limit   float64 `json:"limit,omitempty"`
	Bounded bool    `json:"bounded,omitempty"`
	// Or is another goal that is good enough in the place of this one.
	Or *Goal `json:"or,omitempty"`
}

// Verdict is what has become of a goal.
type Verdict string

// A goal is met by the median. It is missed if no round has met it; what lies between
// is undecided, because another run could have ended differently.
const (
	Met       Verdict = "met"
	Undecided Verdict = "within the spread"
	Missed    Verdict = "MISSED"
	Shown     Verdict = ""
	// Unmeasured is the verdict about a goal without samples. It counts as missed.
	Unmeasured Verdict = "NOT MEASURED"
)

// Ratios says how many times as good as another side ours was, round by round.
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

// Verdict judges one goal of the result, by the better one of its alternatives.
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
