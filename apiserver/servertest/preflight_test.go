// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package servertest

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/client-go/rest"

	"statefulset.dev/apiserver"
	"statefulset.dev/client/clientset/versioned"
	"statefulset.dev/registry/statefulset/preflight"
)

// strictHost is a host that finds every pod template invalid, warns of every pod, and
// remembers what it was asked.
type strictHost struct {
	url string

	mu    sync.Mutex
	asked []string
}

func startStrictHost(t *testing.T) *strictHost {
	t.Helper()
	host := &strictHost{}
	server := httptest.NewServer(host)
	t.Cleanup(server.Close)
	host.url = server.URL
	return host
}

func (h *strictHost) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h.mu.Lock()
	h.asked = append(h.asked, r.Method+" "+r.URL.String())
	h.mu.Unlock()
	w.Header().Set("Content-Type", "application/json")
	if !strings.HasSuffix(r.URL.Path, "/podtemplates") {
		w.Header().Set("Warning", `299 - "it is late"`)
		w.WriteHeader(http.StatusCreated)
		return
	}
	refusal := apierrors.NewInvalid(schema.GroupKind{Kind: "PodTemplate"}, "x",
		field.ErrorList{field.Invalid(field.NewPath("template", "spec", "dnsPolicy"), "x", "must be better")})
	refusal.ErrStatus.TypeMeta = metav1.TypeMeta{APIVersion: "v1", Kind: "Status"}
	w.WriteHeader(int(refusal.ErrStatus.Code))
	_ = json.NewEncoder(w).Encode(refusal.ErrStatus)
}

func (h *strictHost) questions() []string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.Sorted(slices.Values(h.asked))
}

// withPreflight makes a server ask the host at url about sets.
func withPreflight(t *testing.T, mode, url string) func(*apiserver.Config) {
	t.Helper()
	return func(config *apiserver.Config) {
		var err error
		if config.Preflight, err = (&preflight.Options{Mode: mode}).Build(&rest.Config{Host: url}, nil); err != nil {
			t.Fatalf("preparing the preflight: %v", err)
		}
	}
}

func TestPreflight(t *testing.T) {
	const invalid = `spec.template.spec.dnsPolicy: Invalid value: "x": must be better`
	questions := []string{
		"POST /api/v1/namespaces/default/persistentvolumeclaims?dryRun=All",
		"POST /api/v1/namespaces/default/pods?dryRun=All",
		"POST /api/v1/namespaces/default/podtemplates?dryRun=All",
	}
	tests := map[string]struct {
		mode                string
		err                 string
		questions, warnings []string
	}{
		"enforce refuses an invalid set":           {mode: "enforce", err: invalid, questions: questions},
		"warn accepts it with a warning":           {mode: "warn", questions: questions, warnings: []string{invalid}},
		"off accepts it and does not ask the host": {mode: "off"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			host := startStrictHost(t)
			s := Start(t, withPreflight(t, test.mode, host.url))
			warnings, err := createHearing(t, s)
			if got := errorText(err); !strings.Contains(got, test.err) || (got == "") != (test.err == "") {
				t.Errorf("error: got %q, want one with %q", got, test.err)
			}
			if !slices.Equal(warnings, test.warnings) {
				t.Errorf("warnings: got %q, want %q", warnings, test.warnings)
			}
			if got := host.questions(); !slices.Equal(got, test.questions) {
				t.Errorf("asked of the host: got %q, want %q", got, test.questions)
			}
		})
	}
}

func TestAHostThatIsAwayDoesNotStopAWrite(t *testing.T) {
	gone := httptest.NewServer(nil)
	gone.Close()
	s := Start(t, withPreflight(t, "enforce", gone.URL))
	warnings, err := createHearing(t, s)
	if err != nil || len(warnings) != 2 {
		t.Fatalf("got error %v and warnings %q, want none, and one each for the template and the claim", err, warnings)
	}
	for i, path := range []string{"spec.template: ", "spec.volumeClaimTemplates[0]: "} {
		if want := path + "not checked: the host cluster cannot be reached"; !strings.HasPrefix(warnings[i], want) {
			t.Errorf("warning %d: got %q, want it to begin with %q", i, warnings[i], want)
		}
	}
}

// createHearing creates a set and returns what its creator is told.
func createHearing(t *testing.T, s *Server) ([]string, error) {
	t.Helper()
	heard := &warningsHeard{}
	config := rest.CopyConfig(s.Loopback)
	config.WarningHandlerWithContext = heard
	clients, err := versioned.NewForConfig(config)
	if err != nil {
		t.Fatalf("creating a client: %v", err)
	}
	_, err = clients.AppsV1().StatefulSets(Namespace).Create(t.Context(), Web("web"), metav1.CreateOptions{})
	return heard.texts, err
}

func errorText(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

// warningsHeard are the texts of warnings.
type warningsHeard struct{ texts []string }

func (h *warningsHeard) HandleWarningHeaderWithContext(_ context.Context, _ int, _, text string) {
	h.texts = append(h.texts, text)
}
