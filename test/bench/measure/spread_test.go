// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package measure

import "testing"

func TestSpread(t *testing.T) {
	for sentence, test := range map[string]struct {
		samples []float64
		want    string
	}{
		"the middle of an odd number":          {[]float64{30, 10, 20}, "20 (10..30)"},
		"between the two in the middle":        {[]float64{4, 1, 2, 3}, "2.50 (1..4)"},
		"one sample has no range":              {[]float64{7.25}, "7.25"},
		"equal samples have no range":          {[]float64{3, 3, 3}, "3"},
		"three digits":                         {[]float64{1234.5, 56.78, 0.01234}, "56.8 (0.0123..1234)"},
		"nothing measured has nothing to show": {nil, ""},
	} {
		t.Run(sentence, func(t *testing.T) {
			if got := SpreadOf(test.samples).String(); got != test.want {
				t.Errorf("the spread of %v: got %q, want %q", test.samples, got, test.want)
			}
		})
	}
}
