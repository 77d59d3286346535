// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package hostcluster_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	authorizationv1 "k8s.io/api/authorization/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes"

	"statefulset.dev/apiserver/servertest"
)

func TestResourcesAreThoseOfAKind(t *testing.T) {
	host := servertest.HostAt(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		switch r.URL.Path {
		case "/apis/example.com/v1":
			fmt.Fprint(w, `{"kind":"APIResourceList","apiVersion":"v1","groupVersion":"example.com/v1","resources":[{"name":"things","kind":"Thing","namespaced":true,"verbs":["get"]},
				{"name":"things/status","kind":"Thing","namespaced":true},{"name":"others","kind":"Other"},{"name":"all","kind":"Thing"}]}`)
		case "/apis/gone.com/v1":
			w.WriteHeader(http.StatusNotFound)
		default:
			w.WriteHeader(http.StatusServiceUnavailable)
		}
	})
	for sentence, test := range map[string]struct {
		kind schema.GroupVersionKind
		want string
		err  bool
	}{
		"one": {
			kind: schema.GroupVersionKind{Group: "example.com", Version: "v1", Kind: "Other"}, want: "others"},
		"several, without subresources": {
			kind: schema.GroupVersionKind{Group: "example.com", Version: "v1", Kind: "Thing"}, want: "things all"},
		"none":                                 {kind: schema.GroupVersionKind{Group: "example.com", Version: "v1", Kind: "thing"}},
		"none of a version that is not served": {kind: schema.GroupVersionKind{Group: "gone.com", Version: "v1", Kind: "Thing"}},
		"not known":                            {kind: schema.GroupVersionKind{Group: "silent.com", Version: "v1", Kind: "Thing"}, err: true},
		"not known of the core group":          {kind: schema.GroupVersionKind{Version: "v1", Kind: "Pod"}, err: true},
	} {
		t.Run(sentence, func(t *testing.T) {
			found, err := host.ResourcesOf(t.Context(), test.kind)
			var names []string
			for _, resource := range found {
				names = append(names, resource.Name)
			}
			if got := strings.Join(names, " "); got != test.want || (err != nil) != test.err {
				t.Errorf("got %q and error %v, want %q, and an error: %t", got, err, test.want, test.err)
			}
		})
	}
}

func TestTheServersOwnRights(t *testing.T) {
	host := servertest.HostAt(t, func(w http.ResponseWriter, r *http.Request) {
		review := &authorizationv1.SelfSubjectAccessReview{}
		if err := json.NewDecoder(r.Body).Decode(review); err != nil || !strings.HasSuffix(r.URL.Path, "/selfsubjectaccessreviews") ||
			review.Spec.ResourceAttributes.Verb == "watch" {
			http.Error(w, "no", http.StatusServiceUnavailable)
			return
		}
		review.Status.Allowed = review.Spec.ResourceAttributes.Verb == "create"
		w.Header().Set("Content-Type", "application/json")
		if err := json.NewEncoder(w).Encode(review); err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
		}
	})
	host.Config.ContentType = "application/json" // as the answers here are
	client, err := kubernetes.NewForConfig(host.Config)
	if err != nil {
		t.Fatalf("creating a client: %v", err)
	}
	host.Client = client
	for verb, want := range map[string]struct{ may, err bool }{"create": {may: true}, "patch": {}, "watch": {err: true}} {
		if may, err := host.May(t.Context(), authorizationv1.ResourceAttributes{Verb: verb, Resource: "secrets"}); may != want.may ||
			(err != nil) != want.err {
			t.Errorf("%s: got %t and error %v, want %t, and an error: %t", verb, may, err, want.may, want.err)
		}
	}
}
