//go:build bench

// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package bench

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"statefulset.dev/test/bench/measure"
)

// TestBench runs the cases that CASE names, all if it is empty, in ROUNDS rounds. SCALE
// makes the sizes smaller, to try things out. BENCH_RESULTS is where the run is kept, and
// what it has of other cases stays if it is of the same code, by the digest in MEASURED.
// EARLIER_SERVER is a server of ours of an earlier commit to compare with, instead of others.
func TestBench(t *testing.T) {
	chosen, err := choose(os.Getenv("CASE"))
	if err != nil {
		t.Fatal(err)
	}
	if exe := os.Getenv("EARLIER_SERVER"); exe != "" {
		for i, c := range chosen {
			if chosen[i], err = c.againstEarlier(exe); err != nil {
				t.Fatal(err)
			}
		}
	}
	b := open(t)
	b.keepEarlier(t, chosen)
	for _, c := range chosen {
		b.run.Busy = append(b.run.Busy, b.busy(t))
		t.Run(c.name, func(t *testing.T) { b.play(t, c) })
		b.save(t)
	}
	fmt.Printf("\n%s\n", b.run.Page())
	if os.Getenv("BENCH_RESULTS") != "" {
		fmt.Println("make bench-page writes this into docs/policy/performance-log.md.")
	}
	if missed := b.run.Missed(namesOf(chosen)); len(missed) > 0 {
		t.Errorf("%d targets were missed by more than the spread of the rounds:\n  %s", len(missed), strings.Join(missed, "\n  "))
	}
}

// choose finds cases by a list of names.
func choose(names string) ([]benchCase, error) {
	if names == "" {
		return allCases(), nil
	}
	var chosen []benchCase
	for name := range strings.SplitSeq(names, ",") {
		i := slices.IndexFunc(allCases(), func(c benchCase) bool { return c.name == strings.TrimSpace(name) })
		if i < 0 {
			return nil, fmt.Errorf("CASE names %q, want some of %s", name, strings.Join(namesOf(allCases()), ", "))
		}
		chosen = append(chosen, allCases()[i])
	}
	return chosen, nil
}

func namesOf(cases []benchCase) (names []string) {
	for _, c := range cases {
		names = append(names, c.name)
	}
	return names
}

// keepEarlier takes over what the run before this one has of other cases.
func (b *bench) keepEarlier(t *testing.T, chosen []benchCase) {
	t.Helper()
	last, err := measure.Load(os.Getenv("BENCH_RESULTS"))
	switch {
	case err == nil:
		b.run.Continue(last, namesOf(chosen))
	case !errors.Is(err, os.ErrNotExist):
		t.Fatal(err)
	}
}

// play lets the sides of a case take turns.
func (b *bench) play(t *testing.T, c benchCase) {
	first := len(b.run.Results)
	for _, result := range c.results {
		result.Case, result.Title, result.Samples = c.name, c.title, map[string][]float64{}
		b.run.Results = append(b.run.Results, result)
	}
	results := b.run.Results[first:]
	for _, turn := range turnsOf(c, b.run.Rounds) {
		t.Run(fmt.Sprintf("%d/%s", turn.rounds[0]+1, turn.side.name), func(t *testing.T) {
			begun := time.Now()
			b.takeTurn(t, c, turn.side, turn.rounds, func(round int, got samples) {
				for _, result := range results {
					if value, ok := got[result.Measure]; ok {
						result.Samples[turn.side.name] = slices.Concat(result.Samples[turn.side.name], []float64{value})
					}
				}
				fmt.Printf("%s, round %d of %d, %s: %s (%s)\n", c.name, round+1, b.run.Rounds, turn.side.name,
					describe(results, got), time.Since(begun).Round(time.Second))
			})
		})
		if t.Failed() {
			// Rounds are compared with each other, so all sides must have all of them.
			t.Fatalf("%s: a turn has failed, so the case has no result", c.name)
		}
	}
}

// sideTurn is a side at its turn, in a round or in two that follow each other.
type sideTurn struct {
	side   side
	rounds []int
}

// turnsOf tells who is when at turn. Every second round is in the opposite order, so that
// nobody has always the same neighbour.
func turnsOf(c benchCase, rounds int) (turns []sideTurn) {
	for round := range rounds {
		order := slices.Clone(c.sides)
		if round%2 == 1 {
			slices.Reverse(order)
		}
		for i, s := range order {
			if last := len(turns) - 1; c.prepare != nil && i == 0 && round > 0 {
				turns[last].rounds = append(turns[last].rounds, round)
				continue
			}
			turns = append(turns, sideTurn{side: s, rounds: []int{round}})
		}
	}
	return turns
}

func describe(results []measure.Result, samples samples) string {
	var words []string
	for _, r := range results {
		if value, ok := samples[r.Measure]; ok {
			words = append(words, fmt.Sprintf("%s %s %s", r.Measure, measure.SpreadOf([]float64{value}), r.Unit))
		}
	}
	return strings.Join(words, "; ")
}

func (b *bench) save(t *testing.T) {
	t.Helper()
	b.run.Order(namesOf(allCases()))
	if path := os.Getenv("BENCH_RESULTS"); path != "" {
		if err := b.run.Save(path); err != nil {
			t.Fatal(err)
		}
	}
}

// number is what an environment variable says, or what is usual.
func number(t *testing.T, name string, usual float64) float64 {
	t.Helper()
	value, err := strconv.ParseFloat(cmp.Or(os.Getenv(name), fmt.Sprint(usual)), 64)
	if err != nil || value <= 0 {
		t.Fatalf("%s=%q: want a number above 0", name, os.Getenv(name))
	}
	return value
}
