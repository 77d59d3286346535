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

// mostOutputs bounds of how many members it is shown what an object gives.
const mostOutputs = 5

// objects say, by template, how far the objects are there that the set describes, which are those of
// others, how many are deleted from when on, and what they have given to pods.
func (s state) objects() (lines []string) {
	for _, o := range s.set.Status.ObjectTemplates {
		line := countLine(o)
		if o.DueTime != nil {
			line += ", deleted from " + o.DueTime.UTC().Format(time.RFC3339) + " on"
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

// countLine says how many objects there are, of a template that the set has or had.
func countLine(o v1.ObjectTemplateStatus) string {
	if identity.IsRemoved(o) {
		return fmt.Sprintf("%s  %s %s, template removed at %s, %d there", o.Name, o.Kind, o.ObjectName, o.RemovedAt.UTC().Format(time.RFC3339),
			o.Present)
	}
	line := fmt.Sprintf("%s  %s, %d of %d there", o.Name, strings.TrimSpace(o.Kind+" "+o.ObjectName), o.Present+o.Foreign, o.Wanted)
	if o.Foreign > 0 {
		line += fmt.Sprintf(", %d of others", o.Foreign)
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

// outputs say what the objects of a template have given to pods.
func (s state) outputs(template string) (lines []string) {
	for i := range s.set.Spec.ObjectTemplates {
		if s.set.Spec.ObjectTemplates[i].Name != template {
			continue
		}
		for _, output := range s.set.Spec.ObjectTemplates[i].Outputs {
			var given []string
			for _, pod := range slices.SortedFunc(slices.Values(s.pods), byOrdinal) {
				if value, has := pod.Annotations[v1.OutputAnnotationPrefix+output.Name]; has {
					given = append(given, fmt.Sprintf("%s has %q", pod.Name, value))
				}
			}
			if more := len(given) - mostOutputs; more > 0 {
				given = append(given[:mostOutputs], fmt.Sprintf("and %d more", more))
			}
			if len(given) > 0 {
				lines = append(lines, fmt.Sprintf("%s  output %s: %s", template, output.Name, strings.Join(given, ", ")))
			}
		}
	}
	return lines
}
