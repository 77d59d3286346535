// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package measure

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestProvisional(t *testing.T) {
	for sentence, test := range map[string]struct {
		change func(*Run)
		want   string
	}{
		"a quiet machine, usual sizes and three rounds": {func(*Run) {}, ""},
		"others have computed": {
			func(r *Run) { r.Busy = []float64{0.02, 0.55} }, "other programs took 2 % to 55 % of the processors"},
		"smaller sizes": {func(r *Run) { r.Scale = 0.1 }, "the sizes were 0.10 of the default sizes"},
		"few rounds":    {func(r *Run) { r.Rounds = 1 }, "there were 1 rounds"},
	} {
		t.Run(sentence, func(t *testing.T) {
			run := example()
			test.change(run)
			if got := run.Provisional(); got != test.want {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
}

func TestARunIsReadAsItWasWritten(t *testing.T) {
	path := filepath.Join(t.TempDir(), "run.json")
	if err := example().Save(path); err != nil {
		t.Fatalf("saving: %v", err)
	}
	read, err := Load(path)
	if err != nil {
		t.Fatalf("loading: %v", err)
	}
	if got, want := read.Page(), example().Page(); got != want {
		t.Errorf("the page of a run that was read: got\n%s\nwant\n%s", got, want)
	}
}

func TestARunIsContinued(t *testing.T) {
	cases := func(r *Run) (names []string) {
		for _, result := range r.Results {
			names = append(names, result.Case)
		}
		return names
	}
	of := func(names ...string) *Run {
		run := &Run{Commit: "0123abc", Measured: "89ab", Rounds: 3, Scale: 1, Busy: []float64{0.01}}
		for _, name := range names {
			run.Results = append(run.Results, Result{Case: name, Measure: strings.Join(names, "+")})
		}
		return run
	}
	for sentence, test := range map[string]struct {
		earlier *Run
		change  func(earlier *Run)
		want    []string
		busy    int
	}{
		"what was left out is taken over, in order": {
			of("first", "second", "third"), func(*Run) {}, []string{"first", "second", "third"}, 2},
		"another commit of the same code is the same run": {of("first"), func(r *Run) { r.Commit = "4567def" }, []string{"first", "second"}, 2},
		"other code is another run":                       {of("first"), func(r *Run) { r.Measured = "cdef" }, []string{"second"}, 1},
		"so is another machine":                           {of("first"), func(r *Run) { r.Machine.Cores = 64 }, []string{"second"}, 1},
		"so are more rounds":                              {of("first"), func(r *Run) { r.Rounds = 5 }, []string{"second"}, 1},
		"so are smaller sizes":                            {of("first"), func(r *Run) { r.Scale = 0.1 }, []string{"second"}, 1},
	} {
		t.Run(sentence, func(t *testing.T) {
			run := of("second")
			test.change(test.earlier)
			run.Continue(test.earlier, []string{"second"})
			run.Order([]string{"first", "second", "third"})
			if got := cases(run); !slices.Equal(got, test.want) || len(run.Busy) != test.busy {
				t.Errorf("got cases %q and %d looks at how busy others were, want %q and %d", got, len(run.Busy), test.want, test.busy)
			}
			if i := slices.Index(test.want, "second"); run.Results[i].Measure != "second" {
				t.Errorf("the case that was run again: got the result of run %q, want the later one", run.Results[i].Measure)
			}
		})
	}
}

func TestInsert(t *testing.T) {
	run := example().Page()
	once, err := Insert("# Title\n\n"+pageBegin+"\n"+pageEnd+"\n\nAfter.\n", run)
	if err != nil {
		t.Fatalf("inserting: %v", err)
	}
	twice, err := Insert(once, run)
	if err != nil {
		t.Fatalf("inserting again: %v", err)
	}
	if once != twice {
		t.Errorf("inserting twice: got\n%s\nwant what inserting once gave:\n%s", twice, once)
	}
	for _, want := range []string{
		"# Title\n", "Commit 0123abc, 2026-11-22, 3 rounds, on 2 cores of a processor", "| parallel |", "\n\nAfter.\n"} {
		if !strings.Contains(once, want) {
			t.Errorf("the page: got\n%s\nwant %q in it", once, want)
		}
	}
	if _, err := Insert("# Title\n", run); err == nil || !strings.Contains(err.Error(), pageBegin) {
		t.Errorf("a page without marks: got error %v, want one that names %q", err, pageBegin)
	}
}
