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

// guardFinalizer prevents the deletion of the policies of an installation and of their bindings,
// because no policy can cover policies.
const guardFinalizer = v1.GroupName + "/protect"

// protection is a policy that an installation needs. A binding of the same name puts it in force.
type protection struct {
	about, name string
	// without is what could happen without the policy.
	without string
}

// protections returns the policies of artifacts/protect.
func protections() []protection {
	return []protection{
		{"guard against deletion", "statefulset-apiserver-protect",
			"one command could delete the server, its registration or its data while there are sets"},
		{"account for dry runs", "statefulset-preflight", "the account with which the server tries sets in dry runs could really create objects"},
	}
}

// guard checks the policies that prevent a deletion of the installation in the wrong order, and
// prevent the account for dry runs from creating objects.
func (e *examiner) guard(ctx context.Context) []finding {
	var found []finding
	for _, p := range protections() {
		found = append(found, e.protection(ctx, p))
	}
	return found
}

func (e *examiner) protection(ctx context.Context, p protection) finding {
	about := p.about + ", policy " + p.name
	admission := e.host.AdmissionregistrationV1()
	policy, err := admission.ValidatingAdmissionPolicies().Get(ctx, p.name, metav1.GetOptions{})
	if err != nil && !apierrors.IsNotFound(err) {
		return skipFinding(about, err)
	}
	if err != nil {
		policy = nil
	}
	binding, err := admission.ValidatingAdmissionPolicyBindings().Get(ctx, p.name, metav1.GetOptions{})
	if err != nil && !apierrors.IsNotFound(err) {
		return skipFinding(about, err)
	}
	if err != nil {
		binding = nil
	}
	return p.judge(about, policy, binding)
}

func (p protection) judge(about string, policy *admissionregistrationv1.ValidatingAdmissionPolicy,
	binding *admissionregistrationv1.ValidatingAdmissionPolicyBinding) finding {
	const apply = "kubectl apply -k artifacts/protect"
	free := fmt.Sprintf("kubectl patch validatingadmissionpolicy/%[1]s validatingadmissionpolicybinding/%[1]s"+
		` --type=merge -p '{"metadata":{"finalizers":null}}'`, p.name)
	switch {
	case policy == nil || binding == nil:
		return warnFinding(about, "is missing: "+p.without, apply)
	case policy.DeletionTimestamp != nil || binding.DeletionTimestamp != nil:
		return warnFinding(about, "is being deleted, and is in force only until its finalizer is removed", free, apply)
	case !slices.Contains(policy.Finalizers, guardFinalizer) || !slices.Contains(binding.Finalizers, guardFinalizer):
		return warnFinding(about, fmt.Sprintf("lacks the finalizer %s: one command can delete it", guardFinalizer), apply)
	case !slices.Contains(binding.Spec.ValidationActions, admissionregistrationv1.Deny):
		return warnFinding(about, "does not deny anything: spec.validationActions of its binding lacks Deny", apply)
	}
	return okFinding(about, "is in force")
}
