// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package kubectl

import (
	"fmt"
	"os"
	"slices"
	"testing"

	"sigs.k8s.io/yaml"
)

// row is one behaviour of kubectl.
type row struct {
	Name string `json:"name"`
	// Plain says how plain kubectl behaves on ours: same, refused (its first command fails), or differs.
	Plain string `json:"plain"`
	// Note is what the documentation says about it.
	Note string `json:"note,omitempty"`
	// Replicas is how many members the set has before the first step, 2 if not said. With -1 there is no set.
	Replicas *int `json:"replicas,omitempty"`
	// Audited is how many different requests to members the audit log must show, at least.
	Audited int `json:"audited,omitempty"`
	// Last rows run alone, after all others, while our server cannot be reached.
	Last  bool   `json:"last,omitempty"`
	Steps []step `json:"steps"`
}

// step is one command. In its texts, {set} is the set, {kind} the word for its kind, {short} a word
// without dots, {group} and {version} are the group and the apiVersion, and {sts} is what follows
// kubectl to reach the plugin.
type step struct {
	// Run is the command line after kubectl, or after kubectl sts.
	Run string `json:"run"`
	// Raw is true where Run names the plugin itself.
	Raw   bool   `json:"raw,omitempty"`
	Stdin string `json:"stdin,omitempty"`
	// As is who runs it: nobody, who may do nothing, or unreachable, whose kubeconfig names a port that is closed.
	As string `json:"as,omitempty"`
	// Editor is the shell command that stands for a person at an editor.
	Editor string `json:"editor,omitempty"`
	// During is another command, run while this one watches; the watch ends when Until matches what it has printed.
	During string `json:"during,omitempty"`
	// Until is a pattern: the step is repeated until its output matches.
	Until string `json:"until,omitempty"`
	// Compare says how output is compared: text, the default; last (line), distinct (lines, in order), sorted (lines),
	// yaml, stdout (without what is said on stderr), exit (the code only), or none.
	Compare string `json:"compare,omitempty"`
	// Expect is a pattern of what is printed on ours, in place of a comparison.
	Expect string `json:"expect,omitempty"`
}

const (
	same    = "same"
	refused = "refused"
	differs = "differs"
)

func readRows(t *testing.T) []row {
	t.Helper()
	content, err := os.ReadFile("rows.yaml")
	if err != nil {
		t.Fatalf("reading the rows: %v", err)
	}
	var rows []row
	if err := yaml.UnmarshalStrict(content, &rows); err != nil {
		t.Fatalf("reading rows.yaml: %v", err)
	}
	names := map[string]bool{}
	for i, r := range rows {
		if err := r.check(); err != nil {
			t.Fatalf("rows.yaml: row %d (%q): %v", i+1, r.Name, err)
		}
		if names[r.Name] {
			t.Fatalf("rows.yaml: there are two rows %q", r.Name)
		}
		names[r.Name] = true
	}
	return rows
}

func (r row) check() error {
	if r.Name == "" || len(r.Steps) == 0 {
		return fmt.Errorf("a row needs a name and steps")
	}
	if !slices.Contains([]string{same, refused, differs}, r.Plain) {
		return fmt.Errorf("plain is %q, want same, refused or differs", r.Plain)
	}
	for _, s := range r.Steps {
		if !slices.Contains([]string{"", "text", "last", "distinct", "sorted", "yaml", "stdout", "exit", "none"}, s.Compare) {
			return fmt.Errorf("step %q: compare is %q, want text, last, distinct, sorted, yaml, stdout, exit or none", s.Run, s.Compare)
		}
		if !slices.Contains([]string{"", nobody, unreachable}, s.As) {
			return fmt.Errorf("step %q: as is %q, want nobody or unreachable", s.Run, s.As)
		}
	}
	return nil
}

const (
	nobody      = "nobody"
	unreachable = "unreachable"
)
