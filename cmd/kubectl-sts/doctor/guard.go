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

// guardFinalizer keeps the policies of an installation, and their bindings: no policy can
// cover policies.
const guardFinalizer = v1.GroupName + "/protect"

// protection is a policy that an installation needs, in force by a binding of its name.
type protection struct {
	about, name string
	// without is what could happen.
	without string
}

// protections are the policies of artifacts/protect.
func protections() []protection {
	return []protection{
		{"guard against deletion", "statefulset-apiserver-protect",
			"one command could delete the server, its registration or its data while there are sets"},
		{"account for trials", "statefulset-preflight", "the account that tries sets on the cluster could create for real"},
	}
}

// guard looks at what keeps the installation from being deleted in the wrong order, and from
// creating what it only tries.
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
		return isUnknown(about, err)
	}
	if err != nil {
		policy = nil
	}
	binding, err := admission.ValidatingAdmissionPolicyBindings().Get(ctx, p.name, metav1.GetOptions{})
	if err != nil && !apierrors.IsNotFound(err) {
		return isUnknown(about, err)
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
		return isDoubtful(about, "is missing: "+p.without, apply)
	case policy.DeletionTimestamp != nil || binding.DeletionTimestamp != nil:
		return isDoubtful(about, "has been deleted, and is in force only until its finalizer is taken off", free, apply)
	case !slices.Contains(policy.Finalizers, guardFinalizer) || !slices.Contains(binding.Finalizers, guardFinalizer):
		return isDoubtful(about, fmt.Sprintf("lacks the finalizer %s: to delete it takes one command", guardFinalizer), apply)
	case !slices.Contains(binding.Spec.ValidationActions, admissionregistrationv1.Deny):
		return isDoubtful(about, "does not deny anything: spec.validationActions of its binding lacks Deny", apply)
	}
	return isFine(about, "is in force")
}
