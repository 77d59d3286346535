// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"os"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// TestSeedsThatOnceFailed plays the random sequences of testdata/seeds.txt. A seed that
// TestRandomSequences prints belongs there when the failure is mended, and the script
// below testdata/sequences.
func TestSeedsThatOnceFailed(t *testing.T) {
	content, err := os.ReadFile("testdata/seeds.txt")
	if err != nil {
		t.Fatalf("reading seeds: %v", err)
	}
	setFlag(t, "rapid.checks", "1")
	setFlag(t, "rapid.nofailfile", "true")
	played := 0
	for line := range strings.Lines(string(content)) {
		seed, _, _ := strings.Cut(line, "#")
		if seed = strings.TrimSpace(seed); seed == "" {
			continue
		}
		played++
		t.Run(seed, func(t *testing.T) {
			setFlag(t, "rapid.seed", seed)
			rapid.Check(t, func(t *rapid.T) { playDrawn(t, Compute, "", theme{}) })
		})
	}
	if played == 0 {
		t.Error("got no seed in testdata/seeds.txt, want one a line")
	}
}
