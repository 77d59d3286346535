// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package measure

import (
	"fmt"
	"math"
	"slices"
)

// Spread summarizes the samples of several rounds.
type Spread struct{ Median, Min, Max float64 }

// SpreadOf summarizes samples. Without samples, all values are NaN.
func SpreadOf(samples []float64) Spread {
	if len(samples) == 0 {
		return Spread{math.NaN(), math.NaN(), math.NaN()}
	}
	sorted := slices.Sorted(slices.Values(samples))
	middle := len(sorted) / 2
	median := sorted[middle]
	if len(sorted)%2 == 0 {
		median = (sorted[middle-1] + median) / 2
	}
	return Spread{median, sorted[0], sorted[len(sorted)-1]}
}

// String returns the median, and the range of all samples, if there is one.
func (s Spread) String() string {
	median, low, high := digits(s.Median), digits(s.Min), digits(s.Max)
	switch {
	case math.IsNaN(s.Median):
		return ""
	case low == high:
		return median
	default:
		return fmt.Sprintf("%s (%s..%s)", median, low, high)
	}
}

// digits formats a number with three digits, which is more than a benchmark can resolve, and
// integers without a fraction.
func digits(x float64) string {
	size := math.Abs(x)
	switch {
	case x == math.Trunc(x) && size < 1e6, size >= 100:
		return fmt.Sprintf("%.0f", x)
	case size >= 10:
		return fmt.Sprintf("%.1f", x)
	case size >= 0.1:
		return fmt.Sprintf("%.2f", x)
	default:
		return fmt.Sprintf("%.3g", x)
	}
}
