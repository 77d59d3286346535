//go:build hosts

// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package hosts

import (
	"context"
	"fmt"
	"testing"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"statefulset.dev/test/harness"
)

const policyName = "mark-sets"

// createPolicy makes the host label every set that is created.
func createPolicy(t *testing.T) {
	t.Helper()
	policies := suite.Host.AdmissionregistrationV1().MutatingAdmissionPolicies()
	bindings := suite.Host.AdmissionregistrationV1().MutatingAdmissionPolicyBindings()
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), harness.Patience)
		defer cancel()
		_ = bindings.Delete(ctx, policyName, metav1.DeleteOptions{})
		_ = policies.Delete(ctx, policyName, metav1.DeleteOptions{})
	})
	policy := &admissionregistrationv1.MutatingAdmissionPolicy{
		ObjectMeta: metav1.ObjectMeta{Name: policyName},
		Spec: admissionregistrationv1.MutatingAdmissionPolicySpec{
			ReinvocationPolicy: admissionregistrationv1.NeverReinvocationPolicy,
			FailurePolicy:      ptr.To(admissionregistrationv1.Fail),
			MatchConstraints: &admissionregistrationv1.MatchResources{
				ResourceRules: []admissionregistrationv1.NamedRuleWithOperations{{RuleWithOperations: admissionregistrationv1.RuleWithOperations{
					Operations: []admissionregistrationv1.OperationType{admissionregistrationv1.Create},
					Rule: admissionregistrationv1.Rule{
						APIGroups: []string{"apps.statefulset.dev"}, APIVersions: []string{"v1"}, Resources: []string{"statefulsets"}},
				}}},
			},
			Mutations: []admissionregistrationv1.Mutation{{
				PatchType: admissionregistrationv1.PatchTypeApplyConfiguration,
				ApplyConfiguration: &admissionregistrationv1.ApplyConfiguration{
					Expression: `Object{metadata: Object.metadata{labels: {"marked": "yes"}}}`},
			}},
		},
	}
	if _, err := policies.Create(t.Context(), policy, metav1.CreateOptions{}); err != nil {
		t.Fatalf("creating the policy: %v", err)
	}
	binding := &admissionregistrationv1.MutatingAdmissionPolicyBinding{
		ObjectMeta: metav1.ObjectMeta{Name: policyName}, Spec: admissionregistrationv1.MutatingAdmissionPolicyBindingSpec{PolicyName: policyName},
	}
	if _, err := bindings.Create(t.Context(), binding, metav1.CreateOptions{}); err != nil {
		t.Fatalf("binding the policy: %v", err)
	}
}

// expectPolicyApplied waits until a set that is created, in a dry run, is labelled.
func expectPolicyApplied(t *testing.T) {
	t.Helper()
	ns := suite.Namespace(t, "hosts")
	harness.Eventually(t, "the policy is applied to sets", func(ctx context.Context) error {
		set, err := suite.Sets.AppsV1().StatefulSets(ns).Create(ctx, harness.NewSet("tried", 1),
			metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
		if err != nil {
			return err
		}
		if set.Labels["marked"] != "yes" {
			return fmt.Errorf("a new set has the labels %v, want marked=yes", set.Labels)
		}
		return nil
	})
}
