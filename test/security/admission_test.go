//go:build security

// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package security

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	admissionv1 "k8s.io/api/admission/v1"
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
	deny := &admissionregistrationv1.ValidatingAdmissionPolicy{ObjectMeta: metav1.ObjectMeta{Name: ns}, Spec: admissionregistrationv1.ValidatingAdmissionPolicySpec{
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
	binding := &admissionregistrationv1.ValidatingAdmissionPolicyBinding{ObjectMeta: metav1.ObjectMeta{Name: ns}, Spec: admissionregistrationv1.ValidatingAdmissionPolicyBindingSpec{
		PolicyName: ns, ValidationActions: []admissionregistrationv1.ValidationAction{admissionregistrationv1.Deny},
	}}
	if _, err := registrations.ValidatingAdmissionPolicyBindings().Create(t.Context(), binding, metav1.CreateOptions{}); err != nil {
		t.Fatalf("binding a policy: %v", err)
	}
	mutate := &admissionregistrationv1.MutatingAdmissionPolicy{ObjectMeta: metav1.ObjectMeta{Name: ns}, Spec: admissionregistrationv1.MutatingAdmissionPolicySpec{
		MatchConstraints: &admissionregistrationv1.MatchResources{NamespaceSelector: only(ns), ResourceRules: []admissionregistrationv1.NamedRuleWithOperations{{RuleWithOperations: creates}}},
		Mutations: []admissionregistrationv1.Mutation{{
			PatchType:          admissionregistrationv1.PatchTypeApplyConfiguration,
			ApplyConfiguration: &admissionregistrationv1.ApplyConfiguration{Expression: `Object{metadata: Object.metadata{labels: {"mutated": "by-policy"}}}`},
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
		_, err := sets.Patch(ctx, "kept", types.MergePatchType, []byte(`{"status":{"currentRevision":"denied"}}`), metav1.PatchOptions{}, "status")
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

// hook is a webhook that keeps what it was asked, denies objects named "denied" and
// labels those that are created.
type hook struct {
	*httptest.Server

	mu    sync.Mutex
	asked []admissionv1.AdmissionRequest
}

func newHook(t *testing.T, ca authority) *hook {
	t.Helper()
	h := &hook{}
	h.Server = httptest.NewUnstartedServer(http.HandlerFunc(func(out http.ResponseWriter, in *http.Request) {
		var review admissionv1.AdmissionReview
		body, err := io.ReadAll(in.Body)
		if err == nil {
			err = json.Unmarshal(body, &review)
		}
		if err != nil || review.Request == nil {
			http.Error(out, "want an AdmissionReview", http.StatusBadRequest)
			return
		}
		h.mu.Lock()
		h.asked = append(h.asked, *review.Request)
		h.mu.Unlock()
		review.Response = &admissionv1.AdmissionResponse{UID: review.Request.UID, Allowed: true}
		switch {
		case strings.HasPrefix(in.URL.Path, "/mutate") && review.Request.Operation == admissionv1.Create:
			kind := admissionv1.PatchTypeJSONPatch
			review.Response.PatchType, review.Response.Patch = &kind, []byte(`[{"op":"add","path":"/metadata/labels","value":{"mutated":"by-webhook"}}]`)
		case review.Request.Name == "denied":
			review.Response.Allowed, review.Response.Result = false, &metav1.Status{Message: "the webhook of the test denies it"}
		}
		_ = json.NewEncoder(out).Encode(review)
	}))
	h.Config.ErrorLog = log.New(io.Discard, "", 0)
	h.TLS = serverTLS(t, ca)
	h.StartTLS()
	t.Cleanup(h.Close)
	return h
}

// of are the requests about a subresource of an object, for which both webhooks are asked.
func (h *hook) of(name, subresource string, operation admissionv1.Operation) (count int) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, request := range h.asked {
		if request.Name == name && request.SubResource == subresource && request.Operation == operation {
			count++
		}
	}
	return count
}

// TestWebhooksHoldForSets registers both kinds of webhooks, and then takes them away
// without unregistering them.
func TestWebhooksHoldForSets(t *testing.T) {
	t.Parallel()
	w := shared(t)
	ns, ca := w.Namespace(t, "security"), newAuthority(t, "webhooks")
	h := newHook(t, ca)
	none, fail, equivalent := admissionregistrationv1.SideEffectClassNone, admissionregistrationv1.Fail, admissionregistrationv1.Equivalent
	client := func(path string) admissionregistrationv1.WebhookClientConfig {
		return admissionregistrationv1.WebhookClientConfig{URL: new(h.URL + path), CABundle: ca.pem}
	}
	registrations := w.Host.AdmissionregistrationV1()
	t.Cleanup(func() {
		_ = registrations.ValidatingWebhookConfigurations().Delete(context.Background(), ns, metav1.DeleteOptions{})
		_ = registrations.MutatingWebhookConfigurations().Delete(context.Background(), ns, metav1.DeleteOptions{})
	})
	if _, err := registrations.ValidatingWebhookConfigurations().Create(t.Context(), &admissionregistrationv1.ValidatingWebhookConfiguration{
		ObjectMeta: metav1.ObjectMeta{Name: ns},
		Webhooks: []admissionregistrationv1.ValidatingWebhook{{
			Name: "validate.test.example.com", ClientConfig: client("/validate"), Rules: onSets(), NamespaceSelector: only(ns),
			FailurePolicy: &fail, MatchPolicy: &equivalent, SideEffects: &none, AdmissionReviewVersions: []string{"v1"},
		}},
	}, metav1.CreateOptions{}); err != nil {
		t.Fatalf("registering a webhook: %v", err)
	}
	if _, err := registrations.MutatingWebhookConfigurations().Create(t.Context(), &admissionregistrationv1.MutatingWebhookConfiguration{
		ObjectMeta: metav1.ObjectMeta{Name: ns},
		Webhooks: []admissionregistrationv1.MutatingWebhook{{
			Name: "mutate.test.example.com", ClientConfig: client("/mutate"), Rules: onSets("statefulsets"), NamespaceSelector: only(ns),
			FailurePolicy: &fail, MatchPolicy: &equivalent, SideEffects: &none, AdmissionReviewVersions: []string{"v1"},
		}},
	}, metav1.CreateOptions{}); err != nil {
		t.Fatalf("registering a webhook: %v", err)
	}
	sets := w.Sets.AppsV1().StatefulSets(ns)
	dry := metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}}
	refused(t, "a set", "the webhook of the test denies it", func(ctx context.Context) error {
		_, err := sets.Create(ctx, harness.NewSet("denied", 0), dry)
		return err
	})
	harness.Eventually(t, "a set is changed by the webhook", func(ctx context.Context) error {
		set, err := sets.Create(ctx, harness.NewSet("mutated", 0), dry)
		if err == nil && set.Labels["mutated"] != "by-webhook" {
			err = fmt.Errorf("got labels %v", set.Labels)
		}
		return err
	})
	set := w.create(t, ns, harness.NewSet("asked", 0))
	if got := h.of("asked", "", admissionv1.Create); got != 2 {
		t.Errorf("one create of a set: got %d questions, want 2: one of each webhook, though their match policy is Equivalent", got)
	}
	w.write(t, ns, set.Name, "scale", `{"spec":{"replicas":1}}`)
	w.write(t, ns, set.Name, "status", `{"status":{"collisionCount":3}}`)
	for _, sub := range []string{"scale", "status"} {
		if got := h.of("asked", sub, admissionv1.Update); got == 0 {
			t.Errorf("updates of %s: got no question of the webhook, want some", sub)
		}
	}

	h.CloseClientConnections()
	h.Close()
	for name, write := range map[string]func() error{
		"creating a set": func() error {
			_, err := sets.Create(t.Context(), harness.NewSet("down", 0), metav1.CreateOptions{})
			return err
		},
		"scaling": func() error {
			_, err := sets.Patch(t.Context(), "asked", types.MergePatchType, []byte(`{"spec":{"replicas":1}}`), metav1.PatchOptions{}, "scale")
			return err
		},
		"deleting": func() error { return sets.Delete(t.Context(), "asked", metav1.DeleteOptions{}) },
	} {
		if err := write(); !apierrors.IsInternalError(err) || !strings.Contains(err.Error(), "failed calling webhook") {
			t.Errorf("%s while a webhook is down whose failure policy is Fail: got %v, want an internal error that says so", name, err)
		}
	}
}

// write patches a subresource.
func (w *world) write(t *testing.T, ns, name, subresource, body string) {
	t.Helper()
	r := request{method: http.MethodPatch, url: w.Config.Host + setsIn(ns) + "/" + name + "/" + subresource, body: body, header: mergePatch()}
	if got := ask(t, through(t, w.Config), r); got.code != http.StatusOK {
		t.Fatalf("writing the %s: got %d, %s, want 200", subresource, got.code, got.body)
	}
}

// TestNamespacesAndQuotasHoldForSets creates sets in a namespace that is going away, and
// more of them than a quota allows.
func TestNamespacesAndQuotasHoldForSets(t *testing.T) {
	t.Parallel()
	w := shared(t)
	ns := w.Namespace(t, "security")
	quota := &corev1.ResourceQuota{ObjectMeta: metav1.ObjectMeta{Name: "one"}, Spec: corev1.ResourceQuotaSpec{Hard: corev1.ResourceList{"count/statefulsets.apps.statefulset.dev": resource.MustParse("1")}}}
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
	if _, err := sets.Create(t.Context(), harness.NewSet("second", 0), metav1.CreateOptions{}); !apierrors.IsForbidden(err) || !strings.Contains(err.Error(), "exceeded quota: one") {
		t.Errorf("the second set: got %v, want forbidden by the quota", err)
	}

	going := w.Namespace(t, "security")
	maps := w.Host.CoreV1().ConfigMaps(going)
	if _, err := maps.Create(t.Context(), &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "stays", Finalizers: []string{"example.com/stays"}}}, metav1.CreateOptions{}); err != nil {
		t.Fatalf("creating a map: %v", err)
	}
	t.Cleanup(func() {
		_, _ = maps.Patch(context.Background(), "stays", types.MergePatchType, []byte(`{"metadata":{"finalizers":null}}`), metav1.PatchOptions{})
	})
	if err := w.Host.CoreV1().Namespaces().Delete(t.Context(), going, metav1.DeleteOptions{}); err != nil {
		t.Fatalf("deleting the namespace: %v", err)
	}
	refused(t, "a set in a namespace that is going away", "because it is being terminated", func(ctx context.Context) error {
		_, err := w.Sets.AppsV1().StatefulSets(going).Create(ctx, harness.NewSet("late", 0), metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
		return err
	})
	if _, err := w.Sets.AppsV1().StatefulSets("absent").Create(t.Context(), harness.NewSet("lost", 0), metav1.CreateOptions{}); !apierrors.IsNotFound(err) {
		t.Errorf("a set in a namespace that does not exist: got %v, want not found", err)
	}
}
