// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"sigs.k8s.io/yaml"

	v1 "statefulset.dev/api/apps/v1"
	"statefulset.dev/cmd/kubectl-sts/terminal"
)

// write prints a plan in the requested format. With more, it first prints a separator from the
// previous plan.
func write(out io.Writer, plan *v1.StatefulSetPlan, form string, more bool) error {
	// A typed client drops the kind and the version of the answer.
	plan.SetGroupVersionKind(v1.SchemeGroupVersion.WithKind("StatefulSetPlan"))
	var text []byte
	var err error
	switch form {
	case "json":
		text, err = marshalJSON(plan)
	case "yaml":
		text, err = marshalYAML(plan)
		if more {
			text = append([]byte("---\n"), text...)
		}
	default:
		text = []byte(render(plan))
		if more {
			text = append([]byte("\n"), text...)
		}
	}
	if err != nil {
		return fmt.Errorf("printing the plan: %w", err)
	}
	_, err = out.Write(text)
	return err
}

func marshalJSON(plan *v1.StatefulSetPlan) ([]byte, error) {
	text, err := json.MarshalIndent(plan, "", "    ")
	return []byte(terminal.JSON(string(text)) + "\n"), err
}

// marshalYAML writes JSON, which is also YAML, if the plan has text that YAML cannot represent or
// that would control a terminal.
func marshalYAML(plan *v1.StatefulSetPlan) ([]byte, error) {
	text, err := yaml.Marshal(plan)
	if err != nil || terminal.Text(string(text)) != string(text) {
		return marshalJSON(plan)
	}
	return text, nil
}

// render prints a plan for people: numbered steps, the answers of the cluster to them, and the
// outcome.
func render(plan *v1.StatefulSetPlan) string {
	var out strings.Builder
	fmt.Fprintf(&out, "%s %s/%s\n", strings.ToLower(v1.Kind)+"."+v1.GroupName, terminal.Line(plan.Namespace), terminal.Line(plan.Name))
	number := 0
	for _, round := range plan.Rounds {
		for _, step := range round.Steps {
			number++
			renderStep(&out, number, step)
		}
		for _, warning := range round.Warnings {
			fmt.Fprintf(&out, "      warning: %s: %s\n", terminal.Line(warning.Reason), terminal.Line(warning.Message))
		}
		if round.WaitingFor != "" {
			fmt.Fprintf(&out, "      waits: %s\n", terminal.Line(round.WaitingFor))
		}
		renderMembers(&out, plan.Name, round.Members)
		if len(round.ExpectedEvents) > 0 {
			fmt.Fprintf(&out, "      then: %s\n", terminal.Line(strings.Join(round.ExpectedEvents, ", ")))
		}
	}
	if number == 0 {
		fmt.Fprintln(&out, "      nothing to do")
	}
	if plan.Truncated {
		fmt.Fprintln(&out, "      ... and more: the plan is truncated")
	}
	fmt.Fprintf(&out, "%s: %s\n", terminal.Line(string(plan.Outcome)), terminal.Line(plan.Message))
	return out.String()
}

// renderMembers lists the members that a round leaves out, grouped by their reason.
func renderMembers(out io.Writer, set string, members []v1.PlanMember) {
	var names []string
	for i, m := range members {
		names = append(names, terminal.Line(fmt.Sprintf("%s-%d", set, m.Ordinal)))
		if i+1 < len(members) && members[i+1].WhyNot == m.WhyNot && members[i+1].Message == m.Message {
			continue
		}
		fmt.Fprintf(out, "      not yet: %s: %s: %s\n", strings.Join(names, ", "), terminal.Line(string(m.WhyNot)), terminal.Line(m.Message))
		names = nil
	}
}

// renderStep prints a step with its number. Actions that run at the same time share a number.
func renderStep(out io.Writer, number int, step v1.PlanStep) {
	for i, action := range step.Actions {
		label := "     "
		if i == 0 {
			label = fmt.Sprintf("%4d.", number)
		}
		fmt.Fprintf(out, "%s %s: %s\n", label, terminal.Line(action.Description), terminal.Line(action.Message))
	}
}
