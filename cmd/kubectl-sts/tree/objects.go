// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package tree

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	v1 "statefulset.dev/api/apps/v1"
	"statefulset.dev/identity"
)

// mostOutputs limits for how many members the tree shows the value of an output.
const mostOutputs = 5

// objects returns, for each template, how many of its objects exist, how many of them are
// unmanaged, how many belong to removed members and when the first is due for deletion, and the
// outputs of pods.
func (s state) objects() (lines []string) {
	for _, o := range s.set.Status.ObjectTemplates {
		line := countLine(o)
		if o.DueTime != nil {
			line += ", due for deletion from " + o.DueTime.UTC().Format(time.RFC3339)
		}
		if o.Message != "" {
			line += ": " + o.Message
		}
		lines = append(lines, line)
		if !identity.IsRemoved(o) {
			lines = append(lines, s.outputs(o.Name)...)
		}
	}
	return lines
}

// countLine returns how many objects exist, of a template that the set has or had.
func countLine(o v1.ObjectTemplateStatus) string {
	if identity.IsRemoved(o) {
		return fmt.Sprintf("%s  %s %s, template removed at %s, %d exist", o.Name, o.Kind, o.ObjectName, o.RemovedAt.UTC().Format(time.RFC3339),
			o.Present)
	}
	line := fmt.Sprintf("%s  %s, %d of %d exist", o.Name, strings.TrimSpace(o.Kind+" "+o.ObjectName), o.Present+o.Foreign, o.Wanted)
	if o.Foreign > 0 {
		line += fmt.Sprintf(", %d unmanaged", o.Foreign)
	}
	if o.Retired > 0 {
		line += fmt.Sprintf(", %d of removed members", o.Retired)
	}
	return line
}

func byOrdinal(a, b *corev1.Pod) int {
	_, x, _ := identity.ParsePodName(a.Name)
	_, y, _ := identity.ParsePodName(b.Name)
	return cmp.Compare(x, y)
}

// outputs returns the values of a template's outputs in the annotations of pods.
func (s state) outputs(template string) (lines []string) {
	for i := range s.set.Spec.ObjectTemplates {
		if s.set.Spec.ObjectTemplates[i].Name != template {
			continue
		}
		for _, output := range s.set.Spec.ObjectTemplates[i].Outputs {
			var values []string
			for _, pod := range slices.SortedFunc(slices.Values(s.pods), byOrdinal) {
				if value, has := pod.Annotations[v1.OutputAnnotationPrefix+output.Name]; has {
					values = append(values, fmt.Sprintf("%s has %q", pod.Name, value))
				}
			}
			if more := len(values) - mostOutputs; more > 0 {
				values = append(values[:mostOutputs], fmt.Sprintf("and %d more", more))
			}
			if len(values) > 0 {
				lines = append(lines, fmt.Sprintf("%s  output %s: %s", template, output.Name, strings.Join(values, ", ")))
			}
		}
	}
	return lines
}
