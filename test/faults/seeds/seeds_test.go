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
	"sync"
	"testing"
	"time"

	"statefulset.dev/test/faults/internal/row"
)

const (
	// atATime is how many bugs are tried at the same time.
	atATime = 2
	// leastCaught is the percentage of bugs that the simulator has to find.
	leastCaught = 95
	// longest is more than it needs on a machine that does much else; only one that hangs takes longer.
	longest = 20 * time.Minute
)

// TestTheSimulatorFindsBugs builds and runs the simulator once for every bug.
func TestTheSimulatorFindsBugs(t *testing.T) {
	wanted := os.Getenv("SEEDED_BUGS")
	if wanted == "" {
		t.Skip("SEEDED_BUGS is not set: neither to \"all\" nor to the name of a bug")
	}
	var mu sync.Mutex
	caught, total := 0, 0
	t.Run("bugs", func(t *testing.T) {
		slots := make(chan struct{}, atATime)
		for _, b := range readBugs(t) {
			if b.harmless || wanted != "all" && wanted != b.name {
				continue
			}
			t.Run(b.name, func(t *testing.T) {
				t.Parallel()
				slots <- struct{}{}
				defer func() { <-slots }()
				found := try(t, b)
				mu.Lock()
				defer mu.Unlock()
				total++
				if found != "" {
					caught++
					t.Logf("%s Found: %s", b.what, found)
				} else {
					t.Logf("NOT FOUND: %s", b.what)
				}
			})
		}
	})
	t.Logf("the simulator has found %d of %d bugs", caught, total)
	if total == 0 || caught*100 < leastCaught*total {
		t.Errorf("the simulator has found %d of %d bugs, want at least %d%%", caught, total, leastCaught)
	}
	row.Report(t, row.Row{
		Fault: "seeded bugs", Side: "-", Where: "simulator", Runs: total, Violations: total - caught,
		Detail: "bugs put into the controller; a violation is one that was not found",
	})
}

var rule = regexp.MustCompile(`rule broken: ([^:\n]*)`)

// try returns the rule by which the simulator finds a bug, empty if it does not.
func try(t *testing.T, b bug) string {
	t.Helper()
	binary := build(t, b)
	ctx, cancel := context.WithTimeout(t.Context(), longest)
	defer cancel()
	run := exec.CommandContext(ctx, binary, "-test.failfast", "-test.timeout", longest.String())
	run.Dir = filepath.Join(root, "test/faults/sim")
	run.Env = append(os.Environ(), "SIM=sample", "FAULTS_TABLE=")
	output, err := run.CombinedOutput()
	if err == nil {
		return ""
	}
	if found := rule.FindSubmatch(output); found != nil {
		return string(found[1])
	}
	t.Errorf("the simulator neither passes nor names a rule: %v\n%s", err, output[max(0, len(output)-4000):])
	return ""
}

// build builds the simulator with the bug in it.
func build(t *testing.T, b bug) string {
	t.Helper()
	content, err := b.applied()
	if err != nil {
		t.Fatalf("putting the bug in: %v", err)
	}
	dir := t.TempDir()
	file, overlay, binary := filepath.Join(dir, "bug.go"), filepath.Join(dir, "overlay.json"), filepath.Join(dir, "sim.test")
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
	compile := exec.CommandContext(t.Context(), "go", "test", "-c", "-vet=off", "-overlay", overlay, "-o", binary, "./test/faults/sim")
	compile.Dir = root
	if output, err := compile.CombinedOutput(); err != nil {
		t.Fatalf("the bug does not compile: %v\n%s", err, output)
	}
	return binary
}
