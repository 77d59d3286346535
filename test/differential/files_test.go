// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package differential

import (
	"reflect"
	"slices"
	"strings"
	"testing"
)

func TestParseScenario(t *testing.T) {
	s, err := parseScenario("name",
		"# Topic: what\n# it shows\n\n# a remark\nrefused create set web with spec: {replicas: -1}\npatch set web\n  spec:\n    replicas: 2\n")
	want := []command{
		{line: 5, words: []string{"create", "set", "web"}, refused: true, value: map[string]any{"spec": map[string]any{"replicas": float64(-1)}}},
		{line: 6, words: []string{"patch", "set", "web"}, value: map[string]any{"spec": map[string]any{"replicas": float64(2)}}},
	}
	if err != nil || s.topic != "Topic" || s.behaviour != "what it shows" || !reflect.DeepEqual(s.commands, want) {
		t.Errorf("parsed %+v, error %v; want topic %q, behaviour %q and commands %+v", s, err, "Topic", "what it shows", want)
	}
}

func TestParseScenarioRefuses(t *testing.T) {
	for name, c := range map[string]struct{ content, want string }{
		"a file without a comment":      {"create set web\n", "must begin with a comment"},
		"a comment without a behaviour": {"# Topic\ncreate set web\n", "must begin with a comment"},
		"a file without commands":       {"# Topic: what it shows\n", "there are no commands"},
		"a value that is not YAML": {
			"# Topic: what it shows\ncreate set web with spec: {replicas\n", `line 2: reading the value of "create set web"`},
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := parseScenario("name", c.content); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("error is %v, want one that contains %q", err, c.want)
			}
		})
	}
}

// TestExplanationsNameScenarios finds explanations of what is never played, and
// defects of the built-in that nothing says we do not have.
func TestExplanationsNameScenarios(t *testing.T) {
	var names, explained []string
	for _, e := range readExplanations(t) {
		explained = append(explained, e.Scenarios...)
	}
	for _, s := range readScenarios(t) {
		names = append(names, s.name)
		if s.topic == defects && !slices.Contains(explained, s.name) {
			t.Errorf("scenario %s shows a defect of the built-in, and differences.yaml does not say what we do instead", s.name)
		}
	}
	for _, name := range explained {
		if !slices.Contains(names, name) {
			t.Errorf("differences.yaml names scenario %q, want one of scenarios/*.txt", name)
		}
	}
}
