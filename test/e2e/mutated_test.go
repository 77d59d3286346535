//go:build e2e

// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"context"
	"fmt"
	"strings"
	"testing"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "statefulset.dev/api/apps/v1"
	"statefulset.dev/identity"
	"statefulset.dev/test/harness"
)

// TestAPodThatAdmissionChangesIsNamed has a policy that replaces the volume of the claim in each pod of a namespace, as
// drivers of volumes do by a webhook.
func TestAPodThatAdmissionChangesIsNamed(t *testing.T) {
	t.Parallel()
	ns := readyNamespace(t)
	registrations := suite.Host.AdmissionregistrationV1()
	t.Cleanup(func() {
		_ = registrations.MutatingAdmissionPolicyBindings().Delete(context.Background(), ns, metav1.DeleteOptions{})
		_ = registrations.MutatingAdmissionPolicies().Delete(context.Background(), ns, metav1.DeleteOptions{})
	})
	policy := &admissionregistrationv1.MutatingAdmissionPolicy{
		ObjectMeta: metav1.ObjectMeta{Name: ns}, Spec: admissionregistrationv1.MutatingAdmissionPolicySpec{
			MatchConstraints: &admissionregistrationv1.MatchResources{
				NamespaceSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"kubernetes.io/metadata.name": ns}},
				ResourceRules: []admissionregistrationv1.NamedRuleWithOperations{{RuleWithOperations: admissionregistrationv1.RuleWithOperations{
					Operations: []admissionregistrationv1.OperationType{admissionregistrationv1.Create},
					Rule:       admissionregistrationv1.Rule{APIGroups: []string{""}, APIVersions: []string{"v1"}, Resources: []string{"pods"}},
				}}},
			},
			FailurePolicy:      new(admissionregistrationv1.Fail),
			ReinvocationPolicy: admissionregistrationv1.NeverReinvocationPolicy,
			Mutations: []admissionregistrationv1.Mutation{
				{PatchType: admissionregistrationv1.PatchTypeJSONPatch, JSONPatch: &admissionregistrationv1.JSONPatch{
					Expression: `[JSONPatch{op: "remove", path: "/spec/volumes/0/persistentVolumeClaim"}, JSONPatch{op: "add", path: "/spec/volumes/0/emptyDir", value: Object.spec.volumes.emptyDir{}}]`,
				}}},
		}}
	if _, err := registrations.MutatingAdmissionPolicies().Create(t.Context(), policy, metav1.CreateOptions{}); err != nil {
		t.Fatalf("creating a policy: %v", err)
	}
	binding := &admissionregistrationv1.MutatingAdmissionPolicyBinding{
		ObjectMeta: metav1.ObjectMeta{Name: ns}, Spec: admissionregistrationv1.MutatingAdmissionPolicyBindingSpec{PolicyName: ns}}
	if _, err := registrations.MutatingAdmissionPolicyBindings().Create(t.Context(), binding, metav1.CreateOptions{}); err != nil {
		t.Fatalf("binding a policy: %v", err)
	}
	set := newSet("db", 1)
	harness.Eventually(t, "the policy changes pods", func(ctx context.Context) error {
		pod := identity.Pod(set, &set.Spec.Template, "", 0)
		pod.OwnerReferences = nil
		said, err := suite.Host.CoreV1().Pods(ns).Create(ctx, pod, metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
		if err == nil && said.Spec.Volumes[0].EmptyDir == nil {
			err = fmt.Errorf("its volume is %v", said.Spec.Volumes[0])
		}
		return err
	})

	create(t, ns, set)
	harness.Eventually(t, "the condition names the pod, its claim and admission", func(ctx context.Context) error {
		set, err := suite.Sets.AppsV1().StatefulSets(ns).Get(ctx, "db", metav1.GetOptions{})
		if err != nil {
			return err
		}
		stalled := set.Status.Condition(v1.StatefulSetStalled)
		for _, want := range []string{"pod db-0", "claim data-db-0", `volume "data"`, "mutating admission webhook or policy"} {
			if stalled.Reason != v1.ReasonClaimsNotMounted || !strings.Contains(stalled.Message, want) ||
				strings.Contains(stalled.Message, "delete") {
				return fmt.Errorf("stalled is %+v, want %s with %q, and no advice to delete the pod", stalled, v1.ReasonClaimsNotMounted, want)
			}
		}
		return nil
	})
}
