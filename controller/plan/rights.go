// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	v1 "statefulset.dev/api/apps/v1"
	"statefulset.dev/controller/plan/action"
)

// grant is a permission that only some sets need, and that an operator may leave out.
type grant struct {
	// value is the value of the chart, and folder the directory of the manifests below
	// artifacts/rights.
	value, folder string
}

// remedy says how to grant the permission.
func (g grant) remedy() string {
	return fmt.Sprintf("to give it the right: kubectl apply -k artifacts/rights/%s, or %s=true with Helm", g.folder, g.value)
}

func gatesGrant() grant    { return grant{"rights.gates", "gates"} }
func inPlaceGrant() grant  { return grant{"rights.inPlace", "in-place"} }
func evictionGrant() grant { return grant{"rights.eviction", "eviction"} }

// missingGrant is the permission whose absence made an action fail, nil if it failed for another
// reason. Only the text of the error says which permission is missing: "User U cannot patch
// resource "pods/status" in API group ...". Admission also answers Forbidden, with other texts.
func missingGrant(failure Failure) *grant {
	if !apierrors.IsForbidden(failure.Err) {
		return nil
	}
	lacks := func(verb, resource string) bool {
		return strings.Contains(failure.Err.Error(), fmt.Sprintf(" cannot %s resource %q in API group ", verb, resource))
	}
	var missing grant
	switch {
	case lacks("create", "pods/eviction"):
		missing = evictionGrant()
	case lacks("patch", "pods/resize"):
		missing = inPlaceGrant()
	case lacks("patch", "pods/status"):
		if missing = inPlaceGrant(); asksGates(failure.Action) {
			missing = gatesGrant()
		}
	default:
		return nil
	}
	return &missing
}

// asksGates reports whether an action sets conditions of a pod that are gates.
func asksGates(act action.Action) bool {
	conditions, sets := act.(action.SetPodConditions)
	return sets && slices.ContainsFunc(conditions.Conditions, func(c corev1.PodCondition) bool {
		return c.Reason == v1.ReasonGateRequested || c.Reason == v1.ReasonGateNotRequested
	})
}
