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

This page compares the StatefulSet of ` + "`apps.statefulset.dev/v1`" + ` (ours) with the built-in StatefulSet
of Kubernetes 1.37, for users who move between the two. Our StatefulSet (set) means what the
built-in one means, and tests check this.

Each row below is a scenario. A test plays it at the same time on both kinds, in one cluster, and
compares after every step:

* which requests are accepted, and which fields the errors name
* the order in which members are created and removed
* pods, PersistentVolumeClaims (claims) and revisions, in every field
* the status, and its changes over time
* events and warnings

*Same* means that none of these differs. Otherwise, the row has the reason. A difference without a
reason fails the test, and so does a reason without a difference. ` + "`make test-differential`" + ` plays all
scenarios.

The scenarios are in [test/differential/scenarios](../test/differential/scenarios), the differences
in [test/differential/differences.yaml](../test/differential/differences.yaml). This page is
generated from both.

The test plays all scenarios a second time with sets that have our own fields, with values that must
change nothing. Examples are reserved ordinals and an override that no member has, a gate that is
not asked, claim templates that may change but do not, a patience of a week with broken members, and
the order of apps/v1. Then only these fields and their status may differ in addition.

The comparison leaves out:

* the wording of messages and errors
* the conditions that only we set: Ready, Reconciling and Stalled
* metrics and printed columns
* how many times a status is written between two stable states
* the order in which kubelets and the garbage collector finish their work
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
