// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package doctor

import (
	"context"
	"fmt"
	"slices"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "statefulset.dev/api/apps/v1"
)

const (
	// guardName is that of the policy, and of its binding, that keep the installation from
	// being deleted in passing.
	guardName = "statefulset-apiserver-protect"
	// guardFinalizer keeps these two.
	guardFinalizer = v1.GroupName + "/protect"
)

// guard looks at what keeps the installation from being deleted in the wrong order.
func (e *examiner) guard(ctx context.Context) []finding {
	const about = "guard against deletion, policy " + guardName
	admission := e.host.AdmissionregistrationV1()
	policy, err := admission.ValidatingAdmissionPolicies().Get(ctx, guardName, metav1.GetOptions{})
	if err != nil && !apierrors.IsNotFound(err) {
		return []finding{isUnknown(about, err)}
	}
	if err != nil {
		policy = nil
	}
	binding, err := admission.ValidatingAdmissionPolicyBindings().Get(ctx, guardName, metav1.GetOptions{})
	if err != nil && !apierrors.IsNotFound(err) {
		return []finding{isUnknown(about, err)}
	}
	if err != nil {
		binding = nil
	}
	return []finding{judgeGuard(about, policy, binding)}
}

func judgeGuard(about string, policy *admissionregistrationv1.ValidatingAdmissionPolicy, binding *admissionregistrationv1.ValidatingAdmissionPolicyBinding) finding {
	const (
		apply = "kubectl apply -k artifacts/protect"
		free  = "kubectl patch validatingadmissionpolicy/" + guardName + " validatingadmissionpolicybinding/" + guardName +
			` --type=merge -p '{"metadata":{"finalizers":null}}'`
	)
	switch {
	case policy == nil || binding == nil:
		return isDoubtful(about, "is missing: one command could delete the server, its registration or its data while there are sets", apply)
	case policy.DeletionTimestamp != nil || binding.DeletionTimestamp != nil:
		return isDoubtful(about, "has been deleted, and is in force only until its finalizer is taken off", free, apply)
	case !slices.Contains(policy.Finalizers, guardFinalizer) || !slices.Contains(binding.Finalizers, guardFinalizer):
		return isDoubtful(about, fmt.Sprintf("lacks the finalizer %s: to delete it takes one command", guardFinalizer), apply)
	case !slices.Contains(binding.Spec.ValidationActions, admissionregistrationv1.Deny):
		return isDoubtful(about, "does not deny anything: spec.validationActions of its binding lacks Deny", apply)
	}
	return isFine(about, "is in force")
}
