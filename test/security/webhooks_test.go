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
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"statefulset.dev/test/harness"
)

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
			review.Response.PatchType, review.Response.Patch = &kind,
				[]byte(`[{"op":"add","path":"/metadata/labels","value":{"mutated":"by-webhook"}}]`)
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
