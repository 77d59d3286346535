// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package differential

import (
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
)

const page = "../../docs/semantics.md"

var updatePage = flag.Bool("update", false, "write "+page+" instead of comparing it")

// TestPage keeps the page that users read in step with what is played.
func TestPage(t *testing.T) {
	want := writePage(t)
	if *updatePage {
		if err := os.WriteFile(page, []byte(want), 0o644); err != nil {
			t.Fatalf("writing the page: %v", err)
		}
	}
	got, err := os.ReadFile(page)
	if err != nil {
		t.Fatalf("reading the page: %v", err)
	}
	if string(got) != want {
		t.Errorf("%s does not say what the scenarios and differences.yaml say: run go test ./test/differential -update", page)
	}
}

// defects is the topic of what must not be the same.
const defects = "Known defects of the built-in"

// topics are the sections of the page in their order.
func topics() []string {
	return []string{"Creating members", "Identity", "Ordinals", "Scaling", "Updating", "Revisions", "Pods in trouble", "Ownership",
		"Claims", "Deleting a set", "Status", "Subresources", "Admission", defects}
}

const introduction = `# Semantics: what apps/v1 does, and what we do

Our StatefulSet means what the built-in one of Kubernetes 1.37 means. That is not a promise but a
test: every line below is a scenario that is played at the same time on the built-in StatefulSet and
on ours, in one cluster, and compared after every step: what is accepted and which fields errors
name; the order in which members are created and removed; pods, claims and revisions down to the
last field; the status and its course; events and warnings. *Same* means that nothing of this
differs. Where something does, the reason stands instead. A difference without a reason fails the
test, and so does a reason without a difference. ` + "`make test-differential`" + ` plays them.

The scenarios are in [test/differential/scenarios](../test/differential/scenarios), the differences
in [test/differential/differences.yaml](../test/differential/differences.yaml). This page is
generated from both.

The same scenarios are played a second time with sets of ours that have fields of ours, with values
by which nothing is to change: reserved ordinals and an override far away, a gate that is not asked,
claim templates that may change and do not, patience of a week with broken members, the order of
apps/v1. Nothing more may differ then than these fields and what the status says of them.

Not compared: the words of messages and errors, the conditions that only we set (Ready, Reconciling,
Stalled), metrics, printed columns, how many times a status is written on the way from one state of
rest to the next, and the order in which kubelets and the garbage collector finish what they were
told.
`

func writePage(t *testing.T) string {
	t.Helper()
	scenarios, explanations := readScenarios(t), readExplanations(t)
	for _, s := range scenarios {
		if !slices.Contains(topics(), s.topic) {
			t.Errorf("scenario %s is about %q, want one of %q", s.name, s.topic, topics())
		}
	}
	var text strings.Builder
	text.WriteString(introduction)
	for _, topic := range topics() {
		fmt.Fprintf(&text, "\n## %s\n\n| behaviour | scenario | same, or why not |\n|---|---|---|\n", topic)
		for _, s := range scenarios {
			if s.topic == topic {
				fmt.Fprintf(&text, "| %s | [%s](../test/differential/scenarios/%s.txt) | %s |\n",
					strings.ToUpper(s.behaviour[:1])+s.behaviour[1:], s.name, s.name, reasons(s.name, explanations))
			}
		}
	}
	return text.String()
}

func reasons(scenario string, explanations []explanation) string {
	var all []string
	for _, e := range explanations {
		if slices.Contains(e.Scenarios, scenario) {
			all = append(all, e.Reason)
		}
	}
	if len(all) == 0 {
		return "same"
	}
	return strings.Join(all, " ")
}
