// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package servertest

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/rest"

	"statefulset.dev/version"
)

func TestDiscoveryTellsKubectlWhatToCallASet(t *testing.T) {
	s := Start(t)
	aggregated, err := discovery.NewDiscoveryClientForConfig(s.Loopback)
	if err != nil {
		t.Fatalf("creating a client: %v", err)
	}
	legacy, err := discovery.NewDiscoveryClientForConfig(s.Loopback)
	if err != nil {
		t.Fatalf("creating a client: %v", err)
	}
	legacy.UseLegacyDiscovery = true
	for name, client := range map[string]*discovery.DiscoveryClient{"aggregated": aggregated, "legacy": legacy} {
		t.Run(name, func(t *testing.T) {
			_, lists, err := client.ServerGroupsAndResources()
			if err != nil {
				t.Fatalf("discovering: %v", err)
			}
			checkResources(t, lists)
		})
	}
}

func checkResources(t *testing.T, lists []*metav1.APIResourceList) {
	t.Helper()
	found := map[string]string{}
	for _, list := range lists {
		for _, r := range list.APIResources {
			slices.Sort(r.Verbs)
			if strings.Contains(r.Name, "/") { // the two forms of discovery differ, and nobody looks
				r.SingularName = ""
			}
			found[r.Name] = fmt.Sprintf("%s %s short=%v singular=%s categories=%v namespaced=%t verbs=%s",
				list.GroupVersion, r.Kind, r.ShortNames, r.SingularName, r.Categories, r.Namespaced, strings.Join(r.Verbs, ","))
		}
	}
	want := map[string]string{
		"statefulsets":        "apps.statefulset.dev/v1 StatefulSet short=[sset] singular=statefulset categories=[] namespaced=true verbs=create,delete,deletecollection,get,list,patch,update,watch",
		"statefulsets/status": "apps.statefulset.dev/v1 StatefulSet short=[] singular= categories=[] namespaced=true verbs=get,patch,update",
		"statefulsets/scale":  "apps.statefulset.dev/v1 Scale short=[] singular= categories=[] namespaced=true verbs=get,patch,update",
	}
	for name, text := range want {
		if found[name] != text {
			t.Errorf("resource %s:\n got %s\nwant %s", name, found[name], text)
		}
	}
	if len(found) > len(want) {
		t.Errorf("resources: got %v, want %d of them", found, len(want))
	}
}

// The parts of an OpenAPI document that we look at; the same in versions 2 and 3.
type openAPI struct {
	Definitions map[string]openAPISchema `json:"definitions"`
	Components  struct {
		Schemas map[string]openAPISchema `json:"schemas"`
	} `json:"components"`
	Paths map[string]map[string]json.RawMessage `json:"paths"`
}

type openAPISchema struct {
	Kinds []metav1.GroupVersionKind `json:"x-kubernetes-group-version-kind"`
}

func TestOpenAPIIsUsableByTheHost(t *testing.T) {
	s := Start(t)
	const path = "/apis/apps.statefulset.dev/v1/namespaces/{namespace}/statefulsets/{name}"
	for name, endpoint := range map[string]string{"version 2": "/openapi/v2", "version 3": "/openapi/v3/apis/apps.statefulset.dev/v1"} {
		t.Run(name, func(t *testing.T) {
			raw, err := s.Clients.Discovery().RESTClient().Get().AbsPath(endpoint).SetHeader("Accept", "application/json").Do(t.Context()).Raw()
			if err != nil {
				t.Fatalf("getting %s: %v", endpoint, err)
			}
			var document openAPI
			if err := json.Unmarshal(raw, &document); err != nil {
				t.Fatalf("reading %s: %v", endpoint, err)
			}
			schemas := document.Definitions
			if schemas == nil {
				schemas = document.Components.Schemas
			}
			checkSchemas(t, schemas)
			if patch := string(document.Paths[path]["patch"]); !strings.Contains(patch, "application/strategic-merge-patch+json") {
				t.Errorf("PATCH: got %.300s, want it to accept strategic merge patches", patch)
			}
			if !strings.Contains(string(raw), `"x-kubernetes-patch-merge-key":"name"`) {
				t.Error("no list has a merge key, want that of containers to be name")
			}
		})
	}
}

func checkSchemas(t *testing.T, schemas map[string]openAPISchema) {
	t.Helper()
	const set = "dev.statefulset.apps.v1.StatefulSet"
	want := []metav1.GroupVersionKind{{Group: "apps.statefulset.dev", Version: "v1", Kind: "StatefulSet"}}
	if got := schemas[set].Kinds; !slices.Equal(got, want) {
		t.Errorf("kinds of %s: got %v, want %v", set, got, want)
	}
	for name, schema := range schemas {
		if strings.ContainsAny(name, "/~") {
			t.Errorf("model %q: want a dotted name", name)
		}
		for _, kind := range schema.Kinds {
			if kind.Version == "__internal" {
				t.Errorf("model %q publishes the hub version: %v", name, kind)
			}
		}
	}
}

func TestDiscoveryNamesTheServersVersion(t *testing.T) {
	server := Start(t)
	client, err := rest.HTTPClientFor(server.Loopback)
	if err != nil {
		t.Fatalf("creating a client: %v", err)
	}
	for path, want := range map[string]string{
		"/apis/apps.statefulset.dev/v1":              version.Get().String(),
		"/apis/apps.statefulset.dev/v1/statefulsets": "",
	} {
		request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, server.Loopback.Host+path, nil)
		if err != nil {
			t.Fatalf("asking: %v", err)
		}
		answer, err := client.Do(request)
		if err != nil {
			t.Fatalf("asking: %v", err)
		}
		answer.Body.Close()
		if got := answer.Header.Get(version.Header); got != want {
			t.Errorf("%s: got version %q, want %q", path, got, want)
		}
	}
}
