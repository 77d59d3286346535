// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/rest"
	"k8s.io/klog/v2"

	v1 "statefulset.dev/api/apps/v1"
	"statefulset.dev/controller/objects"
	"statefulset.dev/controller/plan"
	"statefulset.dev/controller/plan/action"
	"statefulset.dev/identity"
)

// vault is a host that takes Secrets, and refuses those that it is told to in words that have all.
type vault struct {
	mu      sync.Mutex
	refuses bool
	posts   []*unstructured.Unstructured
	queries []string
	// spans are those of the requests.
	spans *tracetest.InMemoryExporter
}

func (v *vault) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	v.mu.Lock()
	defer v.mu.Unlock()
	w.Header().Set("Content-Type", "application/json")
	if r.Method != http.MethodPost {
		answer(w, http.StatusNotFound, metav1.StatusReasonNotFound)
		return
	}
	sent := &unstructured.Unstructured{}
	var body bytes.Buffer
	_, _ = body.ReadFrom(r.Body)
	_ = sent.UnmarshalJSON(body.Bytes())
	v.posts, v.queries = append(v.posts, sent), append(v.queries, r.URL.RawQuery)
	if v.refuses {
		w.WriteHeader(http.StatusForbidden)
		_ = json.NewEncoder(w).Encode(
			metav1.Status{TypeMeta: metav1.TypeMeta{Kind: "Status", APIVersion: "v1"}, Status: metav1.StatusFailure, Code: http.StatusForbidden,
				Reason: metav1.StatusReasonForbidden, Message: "a webhook refuses " + body.String()})
		return
	}
	sent.SetUID("secret-uid")
	sent.SetResourceVersion("11")
	_ = json.NewEncoder(w).Encode(sent)
}

// newVaultTerm is a term with a set that draws a Secret of each member, and the host that takes it.
func newVaultTerm(t *testing.T, known ...runtime.Object) (*term, *vault, *v1.StatefulSet, action.CreateObject) {
	t.Helper()
	set := newSet("web")
	set.Spec.VolumeClaimTemplates = []corev1.PersistentVolumeClaim{{ObjectMeta: metav1.ObjectMeta{Name: "data"}}}
	set.Spec.ObjectTemplates = []v1.ObjectTemplate{
		{Name: "auth", Object: runtime.RawExtension{Raw: []byte(`{"apiVersion":"v1","kind":"Secret","metadata":{"name":"$(IDENTITY)-auth"}}`)},
			Generate: []v1.GeneratedKey{{Key: "password", Bytes: 24}, {Key: "token", Bytes: 64}}}}
	term, host := newTestTerm(t, set)
	host.Resources = []*metav1.APIResourceList{
		{GroupVersion: "v1", APIResources: []metav1.APIResource{{Name: "secrets", Kind: "Secret", Namespaced: true}}}}
	for _, object := range known {
		if err := host.Tracker().Add(object); err != nil {
			t.Fatal(err)
		}
	}
	served := &vault{spans: tracetest.NewInMemoryExporter()}
	server := httptest.NewServer(served)
	t.Cleanup(server.Close)
	spans := sdktrace.NewTracerProvider(sdktrace.WithSyncer(served.spans), sdktrace.WithSampler(sdktrace.AlwaysSample()))
	term.config.Tracer = spans.Tracer("controller")
	config := &rest.Config{Host: server.URL}
	config.Wrap(TraceRequests(spans))
	clients, err := objects.NewClients(config)
	if err != nil {
		t.Fatal(err)
	}
	term.config.Objects = clients
	term.objectWatcher = term.newObjectWatcher()
	t.Cleanup(term.objectWatcher.Begin(t.Context()))
	secrets := schema.GroupVersionKind{Version: "v1", Kind: "Secret"}
	if err := wait.PollUntilContextTimeout(t.Context(), time.Millisecond, time.Minute, true, func(context.Context) (bool, error) {
		_, known := term.objectWatcher.ClientsFor(secrets, set.Namespace)
		return known, nil
	}); err != nil {
		t.Fatalf("waiting until the host has said what it calls Secrets: %v", err)
	}
	templates, _ := identity.OverridesOf(set).Objects()
	made, _ := templates[0].Make(0)
	return term, served, set, action.CreateObject{Template: "auth", Object: made, Generate: set.Spec.ObjectTemplates[0].Generate}
}

// texts are what was drawn for a Secret that was sent, and what stands for it in the Secret.
func texts(t *testing.T, secret *unstructured.Unstructured) (all map[string]string, traces []string) {
	t.Helper()
	data, _, err := unstructured.NestedStringMap(secret.Object, "data")
	if err != nil {
		t.Fatalf("reading the data of %v: %v", secret, err)
	}
	all = map[string]string{}
	for key, value := range data {
		text, err := base64.StdEncoding.DecodeString(value)
		if err != nil {
			t.Fatalf("the value of %s: %v", key, err)
		}
		all[key] = string(text)
		traces = append(traces, value, string(text))
	}
	return all, traces
}

func TestWhatIsDrawnIsNowhereButInTheHost(t *testing.T) {
	for sentence, refuses := range map[string]bool{"that it takes": false, "that it refuses, and repeats": true} {
		t.Run(sentence, func(t *testing.T) {
			var logged bytes.Buffer
			flags := flag.NewFlagSet("", flag.PanicOnError)
			klog.InitFlags(flags)
			for name, value := range map[string]string{"v": "10", "logtostderr": "false", "alsologtostderr": "false", "stderrthreshold": "FATAL"} {
				if err := flags.Set(name, value); err != nil {
					t.Fatal(err)
				}
			}
			klog.SetOutput(&logged)
			t.Cleanup(func() {
				_ = flags.Set("v", "0")
				_ = flags.Set("logtostderr", "true")
			})
			term, host, set, create := newVaultTerm(t)
			host.refuses = refuses
			decided := plan.Plan{Finally: []action.Chain{{create}}}
			ctx, span := term.startSpan(t.Context(), set)
			done := term.execute(ctx, nil, set, decided)
			endSpan(span, errors.Join(failuresOf(done)...))
			klog.Flush()
			if len(host.posts) != 1 || host.queries[0] != "fieldManager=statefulset-apiserver-generate" {
				t.Fatalf("the host was sent %d Secrets by %q, want one by statefulset-apiserver-generate", len(host.posts), host.queries)
			}
			drawn, traces := texts(t, host.posts[0])
			if len(drawn["password"]) != 32 || len(drawn["token"]) != 86 || strings.ContainsAny(drawn["token"], "+/=") || len(drawn) != 2 {
				t.Errorf("drawn are texts of %d and %d characters, want 32 and 86 of base64url", len(drawn["password"]), len(drawn["token"]))
			}
			status := plan.WithFailures(set.Status, plan.Plan{Status: set.Status}, done.failures, term.config.Clock.Now())
			told := fmt.Sprintf("%v %+v %+v %+v", decided, create.Object, done, status)
			for _, failure := range done.failures {
				told += failure.Err.Error() + plan.Cause(failure.Err)
			}
			for _, event := range done.events {
				told += fmt.Sprintf("%+v", event)
			}
			spans := fmt.Sprintf("%+v", host.spans.GetSpans())
			if !strings.Contains(spans, "statefulset-apiserver-generate") {
				t.Errorf("there are the spans %s, want one of the request", spans)
			}
			for _, trace := range traces {
				if strings.Contains(spans, trace) {
					t.Errorf("what is traced has what was drawn: %s", spans)
				}
				if strings.Contains(told, trace) {
					t.Errorf("what is told has what was drawn: %s", told)
				}
				if strings.Contains(logged.String(), trace) {
					t.Errorf("what is logged has what was drawn: %s", logged.String())
				}
			}
			if refuses != (len(done.failures) == 1) {
				t.Errorf("failures %v, want one: %t", done.failures, refuses)
			}
			if refuses && !apierrors.IsForbidden(done.failures[0].Err) {
				t.Errorf("the failure is %v, want that it is forbidden", done.failures[0].Err)
			}
		})
	}
}

func failuresOf(done report) (all []error) {
	for _, failure := range done.failures {
		all = append(all, failure.Err)
	}
	return all
}

func TestTwoDrawsDiffer(t *testing.T) {
	keys := []v1.GeneratedKey{{Key: "a", Bytes: 16}, {Key: "b", Bytes: 16}}
	one, other := generateValues(keys), generateValues(keys)
	if one["a"] == other["a"] || one["a"] == one["b"] || len(one["a"]) != 22 {
		t.Errorf("drawn are %v and %v, want four different texts of 22 characters", one, other)
	}
}

func TestNothingIsDrawnForWhomTheHostSaysWasGivenIt(t *testing.T) {
	given := map[string]string{v1.GeneratedAnnotation: "web-sst,web-0-auth"}
	for sentence, test := range map[string]struct {
		known []runtime.Object
		want  int
	}{
		"nobody": {nil, 1},
		"another": {
			[]runtime.Object{&corev1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{
				Name: "data-web-1", Namespace: "shop", Annotations: map[string]string{v1.GeneratedAnnotation: "web-1-auth"}}}}, 1},
		"a claim": {[]runtime.Object{
			&corev1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{Name: "data-web-0", Namespace: "shop", Annotations: given}}}, 0},
		"a pod": {[]runtime.Object{&corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "web-0", Namespace: "shop", Annotations: given}}}, 0},
	} {
		t.Run(sentence, func(t *testing.T) {
			term, host, set, create := newVaultTerm(t, test.known...)
			done := term.execute(t.Context(), nil, set, plan.Plan{Finally: []action.Chain{{create}}})
			if len(host.posts) != test.want || (done.stopped == nil) != (test.want == 1) {
				t.Errorf("drawn %d times, stopped by %v, want %d", len(host.posts), done.stopped, test.want)
			}
		})
	}
}
