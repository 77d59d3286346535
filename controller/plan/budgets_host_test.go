// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"errors"
	"strings"

	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"statefulset.dev/controller/plan/action"
)

// isEviction reports whether budgets have a say in an action.
func isEviction(act action.Action) bool {
	removal, removes := act.(action.DeletePod)
	return removes && removal.Evict || action.AsksBudgets(act)
}

// tryEviction is what the host answers when it is asked whether it would evict the pod of an action
// in which budgets have a say. What makes it refuse to evict a pod makes it refuse that, too.
func (h *host) tryEviction(act action.Action) error {
	pod := h.pods[podOf(act).Name]
	if !isEviction(act) || pod == nil || action.Exact(pod) != podOf(act) {
		return nil
	}
	for text, err := range h.refuse {
		if strings.Contains("evict pod "+pod.Name, text) {
			return err
		}
	}
	ready := 0
	for _, other := range h.pods {
		ready += boolToInt(isReady(other) && !isTerminating(other))
	}
	if ready-1 < h.healthy {
		return refusalFor("budget")
	}
	return nil
}

// refusalFor is what the host answers with: "budget" is that of a disruption that is not allowed,
// "budgets" that of several which it cannot make one of.
func refusalFor(why string) error {
	switch why {
	case "budget":
		err := apierrors.NewTooManyRequests("Cannot evict pod as it would violate the pod's disruption budget.", 0)
		err.ErrStatus.Details.Causes = []metav1.StatusCause{
			{Type: policyv1.DisruptionBudgetCause, Message: "The disruption budget web needs 3 healthy pods and has 3 currently"}}
		return err
	case "budgets":
		return apierrors.FromObject(&metav1.Status{Status: metav1.StatusFailure, Code: 500,
			Message: "This pod has more than one PodDisruptionBudget, which the eviction subresource does not support."})
	default:
		return apierrors.NewForbidden(schema.GroupResource{Resource: "pods"}, "x", errors.New(why))
	}
}
