// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "statefulset.dev/api/apps/v1"
)

// order changes the order of updates as a user would, and reports false if it knows no such
// setting. Ranges of first are separated by commas, selectors of last by slashes.
func (h *host) order(key, value string) bool {
	switch key {
	case "direction", "first", "last":
	default:
		return false
	}
	rolling := h.rolling()
	order := v1.UpdateOrder{}
	if rolling.Order != nil {
		order = *rolling.Order
	}
	if value == "none" {
		value = ""
	}
	switch key {
	case "direction":
		order.Direction = v1.UpdateDirectionType(value)
	case "first":
		order.First = nil
		if value != "" {
			order.First = h.ranges(value)
		}
	case "last":
		order.Last = h.selectors(value)
	}
	rolling.Order = &order
	return true
}

func (h *host) selectors(text string) (selectors []metav1.LabelSelector) {
	h.t.Helper()
	for part := range strings.SplitSeq(text, "/") {
		if part == "" {
			continue
		}
		selector, err := metav1.ParseToLabelSelector(part)
		if err != nil {
			h.t.Fatalf("reading %q as a selector: %v", part, err)
		}
		selectors = append(selectors, *selector)
	}
	return selectors
}

// elect carries out the commands by which members agree who they are, and reports false if
// it knows no such command: "lead web-1" makes the pod the only leader, "follow web-1" makes
// it a standby, and "resign web-1" neither.
func (s *stage) elect(name string, args []string) bool {
	role := map[string]string{"lead": "leader", "follow": "standby", "resign": ""}
	if _, known := role[name]; !known {
		return false
	}
	for other, pod := range s.pods {
		if name == "lead" && pod.Labels["role"] == "leader" && !slices.Contains(args, other) {
			s.changePod(other, func(pod *corev1.Pod) { delete(pod.Labels, "role") })
		}
	}
	s.eachPod(args, func(pod *corev1.Pod) {
		delete(pod.Labels, "role")
		if role[name] != "" {
			pod.Labels["role"] = role[name]
		}
	})
	return true
}
