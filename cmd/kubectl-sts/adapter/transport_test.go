// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package adapter

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
)

// seen is a request as it has reached the server.
type seen struct{ method, path, accept, body string }

// serve answers every request with a recorded answer, and tells which requests it saw.
func serve(t *testing.T, code int, contentType, file string) (kubernetes.Interface, *[]seen) {
	t.Helper()
	answer, err := os.ReadFile(filepath.Join("testdata", file))
	if err != nil {
		t.Fatalf("reading a recorded answer: %v", err)
	}
	var requests []seen
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		requests = append(requests, seen{r.Method, r.URL.RequestURI(), r.Header.Get("Accept"), string(body)})
		w.Header().Set("Content-Type", contentType)
		w.WriteHeader(code)
		_, _ = w.Write(answer)
	}))
	t.Cleanup(server.Close)
	config := &rest.Config{Host: server.URL + "/cluster",
		ContentConfig: rest.ContentConfig{AcceptContentTypes: "application/vnd.kubernetes.protobuf,application/json"}}
	config.Wrap(Transport)
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		t.Fatalf("creating a client: %v", err)
	}
	return client, &requests
}

func TestTypedClientReadsOurSets(t *testing.T) {
	client, requests := serve(t, http.StatusOK, "application/json", "set.json")
	got, err := client.AppsV1().StatefulSets("shop").Get(t.Context(), "db", metav1.GetOptions{})
	if err != nil {
		t.Fatalf("reading a set: %v", err)
	}
	if got.Name != "db" || got.Spec.ServiceName != "db" || len(got.Status.Conditions) == 0 {
		t.Errorf("got %+v, want the recorded set", got)
	}
	want := seen{"GET", "/cluster/apis/apps.statefulset.dev/v1/namespaces/shop/statefulsets/db", "application/json", ""}
	if (*requests)[0] != want {
		t.Errorf("the server saw %+v, want %+v", (*requests)[0], want)
	}
}

func TestTypedClientListsOurSets(t *testing.T) {
	client, requests := serve(t, http.StatusOK, "application/json", "list.json")
	got, err := client.AppsV1().StatefulSets("").List(t.Context(), metav1.ListOptions{Limit: 5})
	if err != nil || len(got.Items) == 0 || got.Items[0].Name != "db" {
		t.Errorf("got %+v, %v, want the recorded list", got, err)
	}
	if want := "/cluster/apis/apps.statefulset.dev/v1/statefulsets?limit=5"; (*requests)[0].path != want {
		t.Errorf("the server saw %s, want %s", (*requests)[0].path, want)
	}
}

func TestTypedClientWatchesOurSets(t *testing.T) {
	client, _ := serve(t, http.StatusOK, "application/json", "watch.jsonl")
	w, err := client.AppsV1().StatefulSets("shop").Watch(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatalf("watching: %v", err)
	}
	defer w.Stop()
	count := map[watch.EventType]int{}
	for event := range w.ResultChan() {
		if _, ok := event.Object.(*appsv1.StatefulSet); !ok {
			t.Errorf("got %T in an event %s, want a StatefulSet", event.Object, event.Type)
		}
		count[event.Type]++
	}
	if count[watch.Added] == 0 || count[watch.Modified] == 0 {
		t.Errorf("got %v, want the recorded events", count)
	}
}

func TestTypedClientWritesOurSets(t *testing.T) {
	client, requests := serve(t, http.StatusOK, "application/json", "set.json")
	sets := client.AppsV1().StatefulSets("shop")
	if _, err := sets.Create(t.Context(), &appsv1.StatefulSet{ObjectMeta: metav1.ObjectMeta{Name: "db"}}, metav1.CreateOptions{}); err != nil {
		t.Fatalf("creating: %v", err)
	}
	if _, err := sets.Patch(t.Context(), "db", types.StrategicMergePatchType, []byte(`{"spec":{"replicas":2}}`),
		metav1.PatchOptions{}); err != nil {
		t.Fatalf("patching: %v", err)
	}
	if err := sets.Delete(t.Context(), "db", metav1.DeleteOptions{}); err != nil {
		t.Fatalf("deleting: %v", err)
	}
	for i, want := range []string{"apps.statefulset.dev/v1", "", "apps.statefulset.dev/v1"} {
		var sent struct{ APIVersion string }
		if err := json.Unmarshal([]byte((*requests)[i].body), &sent); err != nil || sent.APIVersion != want {
			t.Errorf("%s: the server saw apiVersion %q, %v, want %q", (*requests)[i].method, sent.APIVersion, err, want)
		}
	}
}

func TestOtherRequestsPassUntouched(t *testing.T) {
	client, requests := serve(t, http.StatusOK, "application/json", "list.json")
	_, _ = client.AppsV1().ControllerRevisions("shop").List(t.Context(), metav1.ListOptions{})
	_, _ = client.AppsV1().Deployments("shop").Get(t.Context(), "statefulsets", metav1.GetOptions{})
	_, _ = client.CoreV1().Pods("statefulsets").List(t.Context(), metav1.ListOptions{})
	for i, want := range []string{
		"/cluster/apis/apps/v1/namespaces/shop/controllerrevisions",
		"/cluster/apis/apps/v1/namespaces/shop/deployments/statefulsets",
		"/cluster/api/v1/namespaces/statefulsets/pods",
	} {
		if got := (*requests)[i]; got.path != want || !strings.Contains(got.accept, "protobuf") {
			t.Errorf("the server saw %+v, want %s with protobuf accepted", got, want)
		}
	}
}

func TestRefusalsNameOurKind(t *testing.T) {
	for sentence, c := range map[string]struct {
		code              int
		contentType, file string
		is                func(error) bool
		want              string
	}{
		"our server's own words": {
			http.StatusNotFound, "application/json", "notfound.json", apierrors.IsNotFound,
			`statefulsets.apps.statefulset.dev "db" not found`,
		},
		"the aggregator's, when our server is down": {
			http.StatusServiceUnavailable, "text/plain; charset=utf-8", "unavailable.txt", apierrors.IsServiceUnavailable,
			"the server is currently unable to handle the request (get statefulsets.apps.statefulset.dev db)",
		},
	} {
		t.Run(sentence, func(t *testing.T) {
			client, _ := serve(t, c.code, c.contentType, c.file)
			_, err := client.AppsV1().StatefulSets("shop").Get(t.Context(), "db", metav1.GetOptions{})
			if !c.is(err) || err.Error() != c.want {
				t.Errorf("got %v, want %s", err, c.want)
			}
		})
	}
}

func TestAnswersThatAreNoJSONAreErrors(t *testing.T) {
	client, _ := serve(t, http.StatusOK, "application/json", "unavailable.txt")
	_, err := client.AppsV1().StatefulSets("shop").Get(t.Context(), "db", metav1.GetOptions{})
	if err == nil || !strings.Contains(err.Error(), "reading the answer: invalid JSON") {
		t.Errorf("got %v, want an error about invalid JSON", err)
	}
}
