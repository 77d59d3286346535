//go:build security

// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package security

import (
	"context"
	"fmt"
	"strings"
	"testing"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"statefulset.dev/test/harness"
)

// onSets are all ways to write a set.
func onSets(resources ...string) []admissionregistrationv1.RuleWithOperations {
	if len(resources) == 0 {
		resources = []string{"statefulsets", "statefulsets/status", "statefulsets/scale"}
	}
	return []admissionregistrationv1.RuleWithOperations{{
		Operations: []admissionregistrationv1.OperationType{"CREATE", "UPDATE", "DELETE"},
		Rule:       admissionregistrationv1.Rule{APIGroups: []string{"apps.statefulset.dev"}, APIVersions: []string{"v1"}, Resources: resources},
	}}
}

func only(ns string) *metav1.LabelSelector {
	return &metav1.LabelSelector{MatchLabels: map[string]string{"kubernetes.io/metadata.name": ns}}
}

// refused waits until a write is refused with the given words.
func refused(t *testing.T, what, says string, write func(ctx context.Context) error) {
	t.Helper()
	harness.Eventually(t, what+" is refused", func(ctx context.Context) error {
		if err := write(ctx); err == nil || !strings.Contains(err.Error(), says) {
			return fmt.Errorf("got %v, want a refusal with %q", err, says) //nolint:errorlint // it may be nil
		}
		return nil
	})
}

// TestPoliciesHoldForSets writes sets, their status and their scale under a policy that
// validates and one that changes.
func TestPoliciesHoldForSets(t *testing.T) {
	t.Parallel()
	w := shared(t)
	ns := w.Namespace(t, "security")
	registrations := w.Host.AdmissionregistrationV1()
	creates := onSets("statefulsets")[0]
	creates.Operations = []admissionregistrationv1.OperationType{"CREATE"}
	match := &admissionregistrationv1.MatchResources{NamespaceSelector: only(ns)}
	for _, rule := range onSets() {
		match.ResourceRules = append(match.ResourceRules, admissionregistrationv1.NamedRuleWithOperations{RuleWithOperations: rule})
	}
	deny := &admissionregistrationv1.ValidatingAdmissionPolicy{
		ObjectMeta: metav1.ObjectMeta{Name: ns}, Spec: admissionregistrationv1.ValidatingAdmissionPolicySpec{
			MatchConstraints: match,
			Validations: []admissionregistrationv1.Validation{{
				Expression: "request.operation == 'DELETE' ? oldObject.metadata.name != 'kept' : !has(request.subResource) ? object.metadata.name != 'denied' : " +
					"request.subResource == 'scale' ? object.spec.replicas != 13 : !has(object.status.currentRevision) || object.status.currentRevision != 'denied'",
				Message: "the policy of the test denies it",
			}},
		}}
	if _, err := registrations.ValidatingAdmissionPolicies().Create(t.Context(), deny, metav1.CreateOptions{}); err != nil {
		t.Fatalf("creating a policy: %v", err)
	}
	t.Cleanup(func() {
		_ = registrations.ValidatingAdmissionPolicies().Delete(context.Background(), ns, metav1.DeleteOptions{})
		_ = registrations.ValidatingAdmissionPolicyBindings().Delete(context.Background(), ns, metav1.DeleteOptions{})
		_ = registrations.MutatingAdmissionPolicies().Delete(context.Background(), ns, metav1.DeleteOptions{})
		_ = registrations.MutatingAdmissionPolicyBindings().Delete(context.Background(), ns, metav1.DeleteOptions{})
	})
	binding := &admissionregistrationv1.ValidatingAdmissionPolicyBinding{
		ObjectMeta: metav1.ObjectMeta{Name: ns}, Spec: admissionregistrationv1.ValidatingAdmissionPolicyBindingSpec{
			PolicyName: ns, ValidationActions: []admissionregistrationv1.ValidationAction{admissionregistrationv1.Deny},
		}}
	if _, err := registrations.ValidatingAdmissionPolicyBindings().Create(t.Context(), binding, metav1.CreateOptions{}); err != nil {
		t.Fatalf("binding a policy: %v", err)
	}
	mutate := &admissionregistrationv1.MutatingAdmissionPolicy{
		ObjectMeta: metav1.ObjectMeta{Name: ns}, Spec: admissionregistrationv1.MutatingAdmissionPolicySpec{
			MatchConstraints: &admissionregistrationv1.MatchResources{
				NamespaceSelector: only(ns), ResourceRules: []admissionregistrationv1.NamedRuleWithOperations{{RuleWithOperations: creates}}},
			Mutations: []admissionregistrationv1.Mutation{{
				PatchType: admissionregistrationv1.PatchTypeApplyConfiguration,
				ApplyConfiguration: &admissionregistrationv1.ApplyConfiguration{
					Expression: `Object{metadata: Object.metadata{labels: {"mutated": "by-policy"}}}`},
			}},
			ReinvocationPolicy: admissionregistrationv1.NeverReinvocationPolicy,
		}}
	if _, err := registrations.MutatingAdmissionPolicies().Create(t.Context(), mutate, metav1.CreateOptions{}); err != nil {
		t.Fatalf("creating a policy: %v", err)
	}
	if _, err := registrations.MutatingAdmissionPolicyBindings().Create(t.Context(), &admissionregistrationv1.MutatingAdmissionPolicyBinding{
		ObjectMeta: metav1.ObjectMeta{Name: ns}, Spec: admissionregistrationv1.MutatingAdmissionPolicyBindingSpec{PolicyName: ns},
	}, metav1.CreateOptions{}); err != nil {
		t.Fatalf("binding a policy: %v", err)
	}

	sets := w.Sets.AppsV1().StatefulSets(ns)
	const says = "the policy of the test denies it"
	refused(t, "a set", says, func(ctx context.Context) error {
		_, err := sets.Create(ctx, harness.NewSet("denied", 0), metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
		return err
	})
	w.create(t, ns, harness.NewSet("kept", 0))
	refused(t, "a scale", says, func(ctx context.Context) error {
		_, err := sets.Patch(ctx, "kept", types.MergePatchType, []byte(`{"spec":{"replicas":13}}`), metav1.PatchOptions{}, "scale")
		return err
	})
	refused(t, "a status", says, func(ctx context.Context) error {
		_, err := sets.Patch(ctx, "kept", types.MergePatchType, []byte(`{"status":{"currentRevision":"denied"}}`), metav1.PatchOptions{},
			"status")
		return err
	})
	refused(t, "a deletion", says, func(ctx context.Context) error { return sets.Delete(ctx, "kept", metav1.DeleteOptions{}) })
	harness.Eventually(t, "a set is changed by the policy", func(ctx context.Context) error {
		set, err := sets.Create(ctx, harness.NewSet("mutated", 0), metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
		if err == nil && set.Labels["mutated"] != "by-policy" {
			err = fmt.Errorf("got labels %v", set.Labels)
		}
		return err
	})
}

// TestNamespacesAndQuotasHoldForSets creates sets in a namespace that is going away, and
// more of them than a quota allows.
func TestNamespacesAndQuotasHoldForSets(t *testing.T) {
	t.Parallel()
	w := shared(t)
	ns := w.Namespace(t, "security")
	quota := &corev1.ResourceQuota{ObjectMeta: metav1.ObjectMeta{Name: "one"},
		Spec: corev1.ResourceQuotaSpec{Hard: corev1.ResourceList{"count/statefulsets.apps.statefulset.dev": resource.MustParse("1")}}}
	if _, err := w.Host.CoreV1().ResourceQuotas(ns).Create(t.Context(), quota, metav1.CreateOptions{}); err != nil {
		t.Fatalf("creating a quota: %v", err)
	}
	sets := w.Sets.AppsV1().StatefulSets(ns)
	harness.Eventually(t, "the first set fits into the quota", func(ctx context.Context) error {
		_, err := sets.Create(ctx, harness.NewSet("first", 0), metav1.CreateOptions{})
		if apierrors.IsAlreadyExists(err) {
			return nil
		}
		return err
	})
	if _, err := sets.Create(t.Context(), harness.NewSet("second", 0), metav1.CreateOptions{}); !apierrors.IsForbidden(err) ||
		!strings.Contains(err.Error(), "exceeded quota: one") {
		t.Errorf("the second set: got %v, want forbidden by the quota", err)
	}

	going := w.Namespace(t, "security")
	maps := w.Host.CoreV1().ConfigMaps(going)
	if _, err := maps.Create(t.Context(), &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{Name: "stays", Finalizers: []string{"example.com/stays"}}}, metav1.CreateOptions{}); err != nil {
		t.Fatalf("creating a map: %v", err)
	}
	t.Cleanup(func() {
		_, _ = maps.Patch(context.Background(), "stays", types.MergePatchType, []byte(`{"metadata":{"finalizers":null}}`), metav1.PatchOptions{})
	})
	if err := w.Host.CoreV1().Namespaces().Delete(t.Context(), going, metav1.DeleteOptions{}); err != nil {
		t.Fatalf("deleting the namespace: %v", err)
	}
	refused(t, "a set in a namespace that is going away", "because it is being terminated", func(ctx context.Context) error {
		_, err := w.Sets.AppsV1().StatefulSets(going).Create(ctx, harness.NewSet("late", 0),
			metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
		return err
	})
	if _, err := w.Sets.AppsV1().StatefulSets("absent").Create(t.Context(), harness.NewSet("lost", 0),
		metav1.CreateOptions{}); !apierrors.IsNotFound(err) {
		t.Errorf("a set in a namespace that does not exist: got %v, want not found", err)
	}
}
