// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package servertest

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	tracesv1 "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	commonv1 "go.opentelemetry.io/proto/otlp/common/v1"
	spansv1 "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/grpc"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"

	v1 "statefulset.dev/api/apps/v1"
	"statefulset.dev/apiserver"
	"statefulset.dev/controller"
	"statefulset.dev/identity"
)

// collector takes spans as an OpenTelemetry collector does.
type collector struct {
	tracesv1.UnimplementedTraceServiceServer

	mu    sync.Mutex
	spans []*spansv1.Span
}

func (c *collector) Export(_ context.Context, request *tracesv1.ExportTraceServiceRequest) (*tracesv1.ExportTraceServiceResponse, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, resource := range request.ResourceSpans {
		for _, scope := range resource.ScopeSpans {
			c.spans = append(c.spans, scope.Spans...)
		}
	}
	return &tracesv1.ExportTraceServiceResponse{}, nil
}

// find returns the first span that fits, nil for none.
func (c *collector) find(fits func(*spansv1.Span) bool) *spansv1.Span {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, span := range c.spans {
		if fits(span) {
			return span
		}
	}
	return nil
}

func startCollector(t *testing.T) (*collector, string) {
	t.Helper()
	listener := listenOnLoopback(t)
	c, server := &collector{}, grpc.NewServer()
	tracesv1.RegisterTraceServiceServer(server, c)
	go func() { _ = server.Serve(listener) }()
	t.Cleanup(server.Stop)
	return c, listener.Addr().String()
}

// traceTo writes a configuration file that sends a fraction of all traces to an address.
func traceTo(t *testing.T, endpoint string, perMillion int) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "tracing.yaml")
	text := fmt.Sprintf("apiVersion: apiserver.config.k8s.io/v1\nkind: TracingConfiguration\nendpoint: %s\nsamplingRatePerMillion: %d\n",
		endpoint, perMillion)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// startEmptyHost starts a host that has nothing, and that accepts whatever is created.
func startEmptyHost(t *testing.T) string {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		switch {
		case r.Method == http.MethodPost:
			body, _ := io.ReadAll(r.Body)
			object, _, err := scheme.Codecs.UniversalDeserializer().Decode(body, nil, nil)
			if err != nil {
				t.Errorf("reading what is created at %s: %v", r.URL.Path, err)
				return
			}
			if created, err := meta.Accessor(object); err == nil {
				created.SetUID("created")
				created.SetResourceVersion("5")
			}
			w.WriteHeader(http.StatusCreated)
			_ = json.NewEncoder(w).Encode(object)
		case r.URL.Query().Get("sendInitialEvents") != "":
			w.WriteHeader(http.StatusUnprocessableEntity)
			fmt.Fprint(w, `{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"Invalid","code":422}`)
		case r.URL.Query().Get("watch") != "":
			w.WriteHeader(http.StatusOK)
			_ = http.NewResponseController(w).Flush()
			<-r.Context().Done()
		default:
			fmt.Fprint(w, `{"kind":"List","apiVersion":"v1","metadata":{"resourceVersion":"1"},"items":[]}`)
		}
	}))
	t.Cleanup(server.CloseClientConnections)
	t.Cleanup(server.Close)
	return server.URL
}

func attributeOf(span *spansv1.Span, key string) string {
	for _, attribute := range span.Attributes {
		if attribute.Key == key {
			if number, ok := attribute.Value.Value.(*commonv1.AnyValue_IntValue); ok {
				return fmt.Sprint(number.IntValue)
			}
			return attribute.Value.GetStringValue()
		}
	}
	return ""
}

func TestAChangeOfASetCanBeFollowedToTheHost(t *testing.T) {
	spans, endpoint := startCollector(t)
	host, begin := startEmptyHost(t), make(chan struct{})
	s := StartWith(t, func(o *apiserver.Options) { o.Traces.ConfigFile = traceTo(t, endpoint, 1_000_000) }, func(c *apiserver.Config) {
		provider := c.Generic.TracerProvider
		c.RunController = func(ctx context.Context, loopback *rest.Config) error {
			select {
			case <-begin:
			case <-ctx.Done():
				return nil
			}
			options := controller.NewOptions()
			options.LeaderElect = false
			config := controller.Config{Options: options, Tracer: provider.Tracer("test")}
			access := &rest.Config{Host: host}
			access.Wrap(controller.TraceRequests(provider))
			var err error
			if config.Host, err = controller.NewHostClient(access); err != nil {
				return err
			}
			if config.Sets, err = controller.NewSetsClient(loopback); err != nil {
				return err
			}
			built, err := controller.New(config)
			if err != nil {
				return err
			}
			return built.Run(ctx)
		}
	})
	set := Web("web")
	set.Spec.Template.Spec.Containers[0].Env = []corev1.EnvVar{{Name: "PASSWORD", Value: "canary-of-an-env-value"}}
	s.Create(t, set)
	patched, err := s.Sets().Patch(t.Context(), "web", types.MergePatchType,
		[]byte(`{"spec":{"podManagementPolicy":"OrderedReady","replicas":1}}`), metav1.PatchOptions{})
	if err != nil {
		t.Fatalf("changing the set: %v", err)
	}
	close(begin)
	if patched.Generation != 2 {
		t.Fatalf("got generation %d, want 2", patched.Generation)
	}
	trace, root := identity.RolloutTrace(patched)

	wait := func(what string, fits func(*spansv1.Span) bool) *spansv1.Span {
		t.Helper()
		var found *spansv1.Span
		s.Eventually(t, what, func(context.Context) error {
			if found = spans.find(fits); found == nil {
				return fmt.Errorf("no such span among %s", spans.names())
			}
			return nil
		})
		return found
	}
	link := wait("the request's span links to the rollout", func(span *spansv1.Span) bool {
		return len(span.Links) == 1 && string(span.Links[0].TraceId) == string(trace[:]) && string(span.Links[0].SpanId) == string(root[:])
	})
	wait("it belongs to the request", func(span *spansv1.Span) bool {
		return string(span.TraceId) == string(link.TraceId) && span.Kind == spansv1.Span_SPAN_KIND_SERVER &&
			strings.HasPrefix(span.Name, "PATCH ")
	})
	sync := wait("a sync is in the rollout's trace", func(span *spansv1.Span) bool {
		return span.Name == "sync" && string(span.TraceId) == string(trace[:])
	})
	if len(sync.ParentSpanId) != 0 {
		t.Errorf("got a sync whose parent is %x, want none", sync.ParentSpanId)
	}
	for key, want := range map[string]string{
		"set.namespace": "default", "set.name": "web", "set.uid": string(patched.UID), "set.generation": "2",
	} {
		if got := attributeOf(sync, key); got != want {
			t.Errorf("got attribute %s %q of the sync, want %q", key, got, want)
		}
	}
	for what, end := range map[string]string{
		"the revision": "/controllerrevisions", "the claim": "/persistentvolumeclaims", "the pod": "/pods",
		"the status": "/statefulsets/web/status",
	} {
		wait("a request of the sync writes "+what, func(span *spansv1.Span) bool {
			return string(span.ParentSpanId) == string(sync.SpanId) && span.Kind == spansv1.Span_SPAN_KIND_CLIENT &&
				strings.HasSuffix(attributeOf(span, "url.full"), end)
		})
	}
	if told := spans.find(func(span *spansv1.Span) bool { return strings.Contains(span.String(), "canary-of-an-env-value") }); told != nil {
		t.Errorf("got a span that tells the value of a variable: %s", told)
	}
}

func (c *collector) names() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	var names []string
	for _, span := range c.spans {
		names = append(names, span.Name+" "+attributeOf(span, "url.full")+" of "+hex.EncodeToString(span.TraceId))
	}
	return strings.Join(names, "\n")
}

func TestNothingIsTracedThatTheConfigurationDoesNotAskFor(t *testing.T) {
	spans, endpoint := startCollector(t)
	t.Run("a server that samples nothing", func(t *testing.T) {
		s := StartWith(t, func(o *apiserver.Options) { o.Traces.ConfigFile = traceTo(t, endpoint, 0) })
		s.Create(t, Web("web"))
	})
	// The server has ended, and sent what it had.
	if got := spans.names(); got != "" {
		t.Errorf("got spans %s, want none", got)
	}
}

// longestEnd is enough to give up sending spans, which takes 5 s.
const longestEnd = 20 * time.Second

func TestACollectorThatIsDownHoldsUpNothing(t *testing.T) {
	listener := listenOnLoopback(t) // accepts, and never answers
	defer listener.Close()
	var ending time.Time
	t.Run("a server", func(t *testing.T) {
		s := StartWith(t, func(o *apiserver.Options) { o.Traces.ConfigFile = traceTo(t, listener.Addr().String(), 1_000_000) })
		s.Create(t, Web("web"))
		for range 100 {
			var list v1.StatefulSetList
			if err := s.Clients.AppsV1().RESTClient().Get().Resource("statefulsets").Do(t.Context()).Into(&list); err != nil {
				t.Fatalf("listing: %v", err)
			}
		}
		ending = time.Now()
	})
	t.Logf("the server ended within %s", time.Since(ending))
	if took := time.Since(ending); took > longestEnd {
		t.Errorf("the end of the server took %s, want less than %s", took, longestEnd)
	}
}
