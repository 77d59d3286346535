// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package plan

import "strings"

// isEviction reports whether budgets have a say in an action.
func isEviction(action Action) bool {
	removal, removes := action.(DeletePod)
	return removes && removal.Evict || AsksBudgets(action)
}

// tryEviction is what the host answers when it is asked whether it would evict the pod of an action
// in which budgets have a say. What makes it refuse to evict a pod makes it refuse that, too.
func (h *host) tryEviction(action Action) error {
	pod := h.pods[podOf(action).Name]
	if !isEviction(action) || pod == nil || exact(pod) != podOf(action) {
		return nil
	}
	for text, err := range h.refuse {
		if strings.Contains("evict pod "+pod.Name, text) {
			return err
		}
	}
	ready := 0
	for _, other := range h.pods {
		ready += one(isReady(other) && !isTerminating(other))
	}
	if ready-1 < h.healthy {
		return refusalFor("budget")
	}
	return nil
}
