//go:build sdk

// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package sdk

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"text/tabwriter"
	"time"

	"statefulset.dev/test/harness"
)

const (
	root    = "../.."
	patient = 15 * time.Minute
)

// suite is what every test uses. It is set once, before the first test runs.
var suite struct{ *harness.Cluster }

func TestMain(m *testing.M) { os.Exit(harness.Main(m, &suite.Cluster)) }

// scenarios are the columns of the table. Every program plays "bad input" as well, and those that do not stand on client-go,
// which decodes and keeps connections by itself, "unknown" and "silence".
func scenarios() []string {
	return []string{
		"CRUD", "pages", "watch", "resume", "410", "scale", "/plan", "SSA conflict", "IntOrString", "Quantity", "403", "404", "409", "429"}
}

// language is a client, and how its programs are run from the root of the repository.
type language struct {
	name string
	// also are the scenarios that are in no column.
	also              []string
	scenarios, sample []string
	// env is what the programs need besides the way to the cluster.
	env []string
}

func languages(t *testing.T) []language {
	t.Helper()
	dist, err := filepath.Abs(filepath.Join(root, "dist/sdk"))
	if err != nil {
		t.Fatal(err)
	}
	classes := strings.Join([]string{dist + "/java/classes", dist + "/java/test", dist + "/java/lib/*"}, ":")
	all := []language{
		{name: "Go", also: []string{"bad input"}, scenarios: []string{"go", "run", "./test/sdk/go"},
			sample: []string{"go", "run", "./sdk/go/example"}},
		{name: "TypeScript", also: []string{"bad input", "unknown", "silence"},
			scenarios: []string{"node", dist + "/typescript/built/scenarios.js"}, sample: []string{"node", dist + "/typescript/built/example.js"}},
		{name: "Python", also: []string{"bad input", "unknown", "silence"},
			env:       []string{"PYTHONPATH=" + dist + "/python", "PYTHONDONTWRITEBYTECODE=1"},
			scenarios: []string{"/usr/bin/python3", "test/sdk/python/scenarios.py"},
			sample:    []string{"/usr/bin/python3", "sdk/python/example/example.py"}},
		{name: "Java", also: []string{"bad input", "unknown", "silence"},
			scenarios: []string{"java", "-cp", classes, "Scenarios"}, sample: []string{"java", "-cp", classes, "Example"}},
	}
	if only := os.Getenv("LANGUAGES"); only != "" {
		all = slices.DeleteFunc(all, func(l language) bool { return !slices.Contains(strings.Split(only, ","), strings.ToLower(l.name)) })
	}
	return all
}

// TestScenarios prints a cell for each scenario and language.
func TestScenarios(t *testing.T) {
	var table bytes.Buffer
	rows := tabwriter.NewWriter(&table, 0, 0, 2, ' ', 0)
	fmt.Fprintln(rows, "scenario\t"+strings.Join(scenarios(), "\t"))
	cells, passed := 0, 0
	for _, l := range languages(t) {
		results := map[string]string{}
		t.Run(l.name, func(t *testing.T) {
			results = l.play(t)
			for _, name := range append(scenarios(), l.also...) {
				if result, played := results[name]; !played {
					t.Errorf("%s: not played", name)
				} else if result != "" {
					t.Errorf("%s: %s", name, result)
				}
			}
		})
		row := l.name
		for _, name := range scenarios() {
			cells++
			result, played := results[name]
			switch {
			case !played:
				row += "\t-"
			case result == "":
				row += "\tok"
				passed++
			default:
				row += "\tFAILED"
			}
		}
		fmt.Fprintln(rows, row)
	}
	_ = rows.Flush()
	fmt.Printf("\n%s\n%d of %d cells\n", table.String(), passed, cells)
}

// play runs the scenarios of a language, and returns what each failed with.
func (l language) play(t *testing.T) map[string]string {
	t.Helper()
	b := stand(t)
	namespace := suite.Namespace(t, "sdk")
	output, err := l.run(t, l.scenarios, ways(t, namespace, b))
	results := map[string]string{}
	for line := range strings.Lines(output) {
		var told struct{ Scenario, Error string }
		if json.Unmarshal([]byte(line), &told) == nil && told.Scenario != "" {
			results[told.Scenario] = told.Error
		}
	}
	if err != nil {
		t.Error(err)
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if versions := slices.Compact(slices.Clone(b.resumed)); results["resume"] == "" && len(versions) != turns+1 {
		results["resume"] = fmt.Sprintf("the watch was asked for from versions %q, want %d different ones", b.resumed, turns+1)
	}
	if results["429"] == "" && b.throttled != turns+1 {
		results["429"] = fmt.Sprintf("the set was read %d times, want %d", b.throttled, turns+1)
	}
	return results
}

// run runs a program as the account. The error has what it printed.
func (l language) run(t *testing.T, program, variables []string) (output string, err error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patient)
	defer cancel()
	cmd := exec.CommandContext(ctx, program[0], program[1:]...)
	cmd.Dir = root
	cmd.Env = slices.Concat(os.Environ(), l.env, variables)
	var out, errOut bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errOut
	if err = cmd.Run(); err != nil {
		err = fmt.Errorf("%s: %w\n%s%s", strings.Join(program, " "), err, &out, &errOut)
	}
	return out.String(), err
}

// TestExamples runs the program that each client's README shows, with a token that a plugin prints, and with a certificate.
func TestExamples(t *testing.T) {
	for _, l := range languages(t) {
		t.Run(l.name, func(t *testing.T) {
			for what, variables := range map[string]func(namespace string) []string{
				"a plugin":      func(namespace string) []string { return plugin(t, namespace, stand(t)) },
				"a certificate": func(namespace string) []string { return administrator(t, namespace) },
			} {
				output, err := l.run(t, l.sample, variables(suite.Namespace(t, "sdk")))
				if err != nil {
					t.Fatalf("with %s: %v", what, err)
				}
				for _, word := range []string{"created", "ready", "scaled", "plan", "merge", "strategic", "json", "apply", "conflict", "deleted"} {
					if !strings.Contains(output, word) {
						t.Errorf("with %s it printed\n%s\nwant the word %q", what, output, word)
					}
				}
			}
		})
	}
}
