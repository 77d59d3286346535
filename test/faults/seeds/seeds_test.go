// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package seeds

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"sync"
	"testing"
	"time"

	"statefulset.dev/test/faults/internal/row"
)

const (
	// atATime is how many bugs are tried at the same time.
	atATime = 2
	// leastCaught is the percentage of bugs that the simulator has to find. Outcome oracles have to find
	// all of theirs.
	leastCaught = 95
	// sequences is how many random sequences may pass before an outcome shows a bug.
	sequences = "220000"
	// longest is more than it needs on a machine that does much else; only one that hangs takes longer.
	longest = 20 * time.Minute
)

// TestTheSimulatorFindsBugs builds and runs the simulator once for every bug that it has to find.
func TestTheSimulatorFindsBugs(t *testing.T) {
	caught, total := hunt(t, "all", func(b bug) bool { return b.theme == "" })
	if caught*100 < leastCaught*total {
		t.Errorf("the simulator has found %d of %d bugs, want at least %d%%", caught, total, leastCaught)
	}
	row.Report(t, row.Row{
		Fault: "seeded bugs", Side: "-", Where: "simulator", Runs: total, Violations: total - caught,
		Detail: "bugs put into the controller; a violation is one that was not found",
	})
}

// TestOutcomesShowBugs builds and runs the random sequences of the planner once for every bug that an
// outcome oracle has to find.
func TestOutcomesShowBugs(t *testing.T) {
	caught, total := hunt(t, "outcomes", func(b bug) bool { return b.theme != "" })
	if caught < total {
		t.Errorf("outcome oracles have found %d of %d bugs, want all", caught, total)
	}
	row.Report(t, row.Row{
		Fault: "seeded bugs", Side: "-", Where: "random sequences", Runs: total, Violations: total - caught,
		Detail: "bugs put into the planner; a violation is one that no outcome oracle has found",
	})
}

// hunt tries the bugs that are meant, as far as SEEDED_BUGS names them: one by its name, those of a kind,
// or all.
func hunt(t *testing.T, kind string, meant func(bug) bool) (caught, total int) {
	wanted := os.Getenv("SEEDED_BUGS")
	bugs := slices.DeleteFunc(readBugs(t), func(b bug) bool {
		return b.harmless || !meant(b) || !slices.Contains([]string{"all", kind, b.name}, wanted)
	})
	if len(bugs) == 0 {
		t.Skipf("SEEDED_BUGS is %q: neither \"all\", nor %q, nor the name of one of these bugs", wanted, kind)
	}
	var mu sync.Mutex
	t.Run("bugs", func(t *testing.T) {
		slots := make(chan struct{}, atATime)
		for _, b := range bugs {
			t.Run(b.name, func(t *testing.T) {
				t.Parallel()
				slots <- struct{}{}
				defer func() { <-slots }()
				found := b.finder().try(t, b)
				mu.Lock()
				defer mu.Unlock()
				if found != "" {
					caught++
					t.Logf("%s Found: %s", b.what, found)
				} else {
					t.Logf("NOT FOUND: %s", b.what)
				}
			})
		}
	})
	t.Logf("%d of %d bugs were found", caught, len(bugs))
	return caught, len(bugs)
}

// finder is a test that fails if a bug is in the code.
type finder struct {
	// dir is the package of the test, args and env are how it is run.
	dir       string
	args, env []string
	// broken finds in the output what the bug breaks.
	broken *regexp.Regexp
}

// finder is the test that has to find a bug.
func (b bug) finder() finder {
	if b.theme == "" {
		return finder{
			dir: "test/faults/sim", env: []string{"SIM=sample", "FAULTS_TABLE="},
			broken: regexp.MustCompile(`rule broken: ([^:\n]*)`),
		}
	}
	return finder{
		dir: "controller/plan", args: []string{"-test.run=^TestOutcomes$/^shards$/^" + b.theme + "$", "-rapid.shrinktime=0s"},
		env:    []string{"SEED=1", "SEQUENCES=" + sequences, "ORACLE="},
		broken: regexp.MustCompile(`\[outcome ([^]\n]*\][^\n]*)`),
	}
}

// try returns what the bug breaks, empty if the test passes.
func (f finder) try(t *testing.T, b bug) string {
	t.Helper()
	binary := f.build(t, b)
	ctx, cancel := context.WithTimeout(t.Context(), longest)
	defer cancel()
	run := exec.CommandContext(ctx, binary, append([]string{"-test.failfast", "-test.timeout", longest.String()}, f.args...)...)
	run.Dir = filepath.Join(root, f.dir)
	run.Env = append(os.Environ(), f.env...)
	output, err := run.CombinedOutput()
	if err == nil {
		return ""
	}
	if found := f.broken.FindSubmatch(output); found != nil {
		return string(found[1])
	}
	t.Errorf("the test neither passes nor names what is broken: %v\n%s", err, output[max(0, len(output)-4000):])
	return ""
}

// build builds the test with the bug in the code.
func (f finder) build(t *testing.T, b bug) string {
	t.Helper()
	content, err := b.applied()
	if err != nil {
		t.Fatalf("putting the bug in: %v", err)
	}
	dir := t.TempDir()
	file, overlay, binary := filepath.Join(dir, "bug.go"), filepath.Join(dir, "overlay.json"), filepath.Join(dir, "bug.test")
	original, err := filepath.Abs(filepath.Join(root, b.file))
	if err != nil {
		t.Fatalf("finding the file of the bug: %v", err)
	}
	replace, err := json.Marshal(map[string]map[string]string{"Replace": {original: file}})
	if err != nil {
		t.Fatalf("encoding the overlay: %v", err)
	}
	if err := errors.Join(os.WriteFile(file, []byte(content), 0o600), os.WriteFile(overlay, replace, 0o600)); err != nil {
		t.Fatalf("writing the overlay: %v", err)
	}
	compile := exec.CommandContext(t.Context(), "go", "test", "-c", "-vet=off", "-overlay", overlay, "-o", binary, "./"+f.dir)
	compile.Dir = root
	if output, err := compile.CombinedOutput(); err != nil {
		t.Fatalf("the bug does not compile: %v\n%s", err, output)
	}
	return binary
}
