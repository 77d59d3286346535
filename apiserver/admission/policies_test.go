// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package admission_test

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/utils/ptr"

	"statefulset.dev/apiserver"
	"statefulset.dev/apiserver/admission"
	"statefulset.dev/apiserver/hostcluster"
	"statefulset.dev/apiserver/servertest"
)

const policyKinds = "/apis/admissionregistration.k8s.io/v1"

// versionedHost answers what admission asks of a host cluster, over HTTP. It serves
// mutating policies as it is told to.
type versionedHost struct {
	policies atomic.Bool
	broken   atomic.Bool // answers nothing about what it serves
	server   *httptest.Server
}

func startVersionedHost(t *testing.T) *versionedHost {
	t.Helper()
	h := &versionedHost{}
	// Watches end with the server that makes them, and not with the test: they are cut here.
	h.server = httptest.NewServer(h)
	t.Cleanup(func() {
		h.server.CloseClientConnections()
		h.server.Close()
	})
	return h
}

func (h *versionedHost) host(t *testing.T) *hostcluster.Host {
	t.Helper()
	// JSON, since the answers here are.
	config := &rest.Config{Host: h.server.URL, ContentConfig: rest.ContentConfig{ContentType: "application/json"}}
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		t.Fatalf("creating a client: %v", err)
	}
	return &hostcluster.Host{Config: config, Client: client, Watching: client}
}

func (h *versionedHost) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	switch {
	case r.URL.Path == policyKinds && h.broken.Load():
		w.WriteHeader(http.StatusServiceUnavailable)
	case r.URL.Path == policyKinds:
		send(w, h.discovery())
	case strings.Contains(r.URL.Path, "/mutatingadmissionpolic") && !h.policies.Load():
		w.WriteHeader(http.StatusNotFound)
	case r.URL.Query().Get("watch") != "":
		if r.URL.Query().Get("sendInitialEvents") != "" {
			w.WriteHeader(http.StatusUnprocessableEntity) // lists do here
			return
		}
		w.WriteHeader(http.StatusOK)
		_ = http.NewResponseController(w).Flush()
		<-r.Context().Done()
	case r.URL.Path == policyKinds+"/mutatingadmissionpolicies":
		send(w, &admissionregistrationv1.MutatingAdmissionPolicyList{
			ListMeta: metav1.ListMeta{ResourceVersion: "1"}, Items: []admissionregistrationv1.MutatingAdmissionPolicy{*markingPolicy()},
		})
	case r.URL.Path == policyKinds+"/mutatingadmissionpolicybindings":
		send(w, &admissionregistrationv1.MutatingAdmissionPolicyBindingList{
			ListMeta: metav1.ListMeta{ResourceVersion: "1"}, Items: []admissionregistrationv1.MutatingAdmissionPolicyBinding{{
				ObjectMeta: metav1.ObjectMeta{Name: "mark"}, Spec: admissionregistrationv1.MutatingAdmissionPolicyBindingSpec{PolicyName: "mark"},
			}},
		})
	case r.URL.Path == "/api/v1":
		verbs := metav1.Verbs{"create", "delete", "get", "list", "patch", "watch"}
		send(w, &metav1.APIResourceList{GroupVersion: "v1", APIResources: []metav1.APIResource{
			{Name: "configmaps", Kind: "ConfigMap", Namespaced: true, Verbs: verbs},
			{Name: "secrets", Kind: "Secret", Namespaced: true, Verbs: verbs},
		}})
	case strings.HasSuffix(r.URL.Path, "/selfsubjectaccessreviews"):
		send(w, &authorizationv1.SelfSubjectAccessReview{Status: authorizationv1.SubjectAccessReviewStatus{Allowed: true}})
	case r.URL.Path == "/api/v1/namespaces":
		send(w, &corev1.NamespaceList{
			ListMeta: metav1.ListMeta{ResourceVersion: "1"}, Items: []corev1.Namespace{{ObjectMeta: metav1.ObjectMeta{Name: servertest.Namespace}}},
		})
	default:
		send(w, map[string]any{"metadata": map[string]any{"resourceVersion": "1"}, "items": []any{}})
	}
}

func send(w http.ResponseWriter, object any) {
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(object)
}

func (h *versionedHost) discovery() *metav1.APIResourceList {
	list := &metav1.APIResourceList{
		APIResources: []metav1.APIResource{{Name: "validatingadmissionpolicies"}, {Name: "mutatingwebhookconfigurations"}}}
	if h.policies.Load() {
		list.APIResources = append(list.APIResources, metav1.APIResource{Name: "mutatingadmissionpolicies"},
			metav1.APIResource{Name: "mutatingadmissionpolicybindings"})
	}
	return list
}

// markingPolicy labels every set. It is applied with the group's schema, which the
// host here does not publish, so where it is applied it refuses.
func markingPolicy() *admissionregistrationv1.MutatingAdmissionPolicy {
	all := []string{"*"}
	return &admissionregistrationv1.MutatingAdmissionPolicy{
		ObjectMeta: metav1.ObjectMeta{Name: "mark"},
		Spec: admissionregistrationv1.MutatingAdmissionPolicySpec{
			ReinvocationPolicy: admissionregistrationv1.NeverReinvocationPolicy,
			FailurePolicy:      ptr.To(admissionregistrationv1.Fail),
			MatchConstraints: &admissionregistrationv1.MatchResources{
				MatchPolicy:       ptr.To(admissionregistrationv1.Equivalent),
				NamespaceSelector: &metav1.LabelSelector{}, ObjectSelector: &metav1.LabelSelector{},
				ResourceRules: []admissionregistrationv1.NamedRuleWithOperations{{RuleWithOperations: admissionregistrationv1.RuleWithOperations{
					Operations: []admissionregistrationv1.OperationType{admissionregistrationv1.Create},
					Rule: admissionregistrationv1.Rule{
						APIGroups: []string{"apps.statefulset.dev"}, APIVersions: all, Resources: []string{"statefulsets"}},
				}}},
			},
			Mutations: []admissionregistrationv1.Mutation{{
				PatchType: admissionregistrationv1.PatchTypeJSONPatch,
				JSONPatch: &admissionregistrationv1.JSONPatch{Expression: `[JSONPatch{op: "add", path: "/metadata/labels", value: {"marked": "yes"}}]`},
			}},
		},
	}
}

// startOn starts a server whose admission follows the host.
func (h *versionedHost) startOn(t *testing.T, configure ...func(*apiserver.Config)) (*servertest.Server, *admission.Policies) {
	t.Helper()
	var options *apiserver.Options
	var policies *admission.Policies
	server := servertest.StartWith(t, func(o *apiserver.Options) {
		o.Features.EnablePriorityAndFairness = false
		options = o
	}, func(config *apiserver.Config) {
		for _, change := range configure {
			change(config)
		}
		host := h.host(t)
		var err error
		if policies, err = admission.FollowPolicies(t.Context(), host); err != nil {
			t.Fatalf("asking the host: %v", err)
		}
		if err := admission.Apply(options.Admission, options.Features, config.Generic, host, policies, "system", nil); err != nil {
			t.Fatalf("preparing admission: %v", err)
		}
	})
	return server, policies
}

// meetsPolicy creates a set and says whether it has come to the policy.
func meetsPolicy(t *testing.T, s *servertest.Server, name string) bool {
	t.Helper()
	_, err := s.Sets().Create(t.Context(), servertest.Web(name), metav1.CreateOptions{})
	if err != nil && !strings.Contains(err.Error(), "Kind=StatefulSet not found") {
		t.Fatalf("creating set %s: got %v, want it created, or the policy to miss the schema", name, err)
	}
	return err != nil
}

func TestSetsAreWrittenOnAHostWithoutMutatingPolicies(t *testing.T) {
	host := startVersionedHost(t)
	server, _ := host.startOn(t)
	if meetsPolicy(t, server, "web") {
		t.Errorf("a host without mutating policies: got the set refused by one, want it created")
	}
}

func TestMutatingPoliciesFollowTheHost(t *testing.T) {
	host := startVersionedHost(t)
	server, policies := host.startOn(t)
	look := func(times int) {
		for range times {
			admission.Look(t.Context(), policies)
		}
	}
	steps := []struct {
		sentence string
		change   func()
		want     bool
	}{
		{"the host is upgraded: they are applied once it has been asked", func() { host.policies.Store(true); look(1) }, true},
		{"the host does not answer: they stay", func() { host.broken.Store(true); look(2 * admission.PolicyDoubts) }, true},
		{"an old replica of the host answers now and then: they stay", func() {
			host.broken.Store(false)
			for range admission.PolicyDoubts {
				host.policies.Store(false)
				look(admission.PolicyDoubts - 1)
				host.policies.Store(true)
				look(1)
			}
		}, true},
		{"the host is downgraded: they are gone once it has said so several times",
			func() { host.policies.Store(false); look(admission.PolicyDoubts) }, false},
		{"the host is upgraded again", func() { host.policies.Store(true); look(1) }, true},
	}
	for i, step := range steps {
		step.change()
		if got := meetsPolicy(t, server, "web-"+string(rune('a'+i))); got != step.want {
			t.Errorf("%s: got the policy applied: %v, want %v", step.sentence, got, step.want)
		}
	}
}

func TestAServerIsReadyOnceTheHostsPoliciesAreListed(t *testing.T) {
	host := startVersionedHost(t)
	host.policies.Store(true)
	server, policies := host.startOn(t)
	if err := admission.Ready(policies); err != nil {
		t.Errorf("a server whose readyz is ok: got %v, want its policies listed", err)
	}
	if !meetsPolicy(t, server, "web") {
		t.Errorf("the first set: got it created past the policy, want the policy applied: the server said that it was ready")
	}
}

func TestAHostThatSaysNothingOfItsPoliciesIsAnError(t *testing.T) {
	host := startVersionedHost(t)
	host.broken.Store(true)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	if _, err := admission.FollowPolicies(ctx, host.host(t)); err == nil || !strings.Contains(err.Error(), "admissionregistration.k8s.io/v1") {
		t.Errorf("got %v, want an error that names what was asked for: nothing may be admitted before that is known", err)
	}
}
