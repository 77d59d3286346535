// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package apiserver

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apiserver/pkg/admission"
	"k8s.io/apiserver/pkg/admission/plugin/resourcequota"
	"k8s.io/client-go/rest"

	"statefulset.dev/registry/statefulset"
)

// slowHost answers when it is told so, and counts what it is asked at the same time.
type slowHost struct {
	arrived, answer chan struct{}

	mu        sync.Mutex
	now, most int
	askedAs   string
}

func (h *slowHost) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h.mu.Lock()
	h.now++
	h.most, h.askedAs = max(h.most, h.now), r.Header.Get("Impersonate-User")
	h.mu.Unlock()
	h.arrived <- struct{}{}
	<-h.answer
	h.mu.Lock()
	h.now--
	h.mu.Unlock()
	w.WriteHeader(http.StatusCreated)
}

func TestAsManyObjectsAreTriedAtATimeAsTheHostCanDo(t *testing.T) {
	const asked = 100
	host := &slowHost{arrived: make(chan struct{}, asked), answer: make(chan struct{})}
	server := httptest.NewServer(host)
	defer server.Close()
	trier, err := newTrier(&rest.Config{Host: server.URL}, "somebody-else")
	if err != nil {
		t.Fatal(err)
	}
	template := &corev1.PodTemplate{ObjectMeta: metav1.ObjectMeta{GenerateName: "x-", Namespace: namespace}}
	answers := make(chan statefulset.Answer, asked)
	for range asked {
		go func() { answers <- trier.TryCreate(t.Context(), template) }()
	}
	for range firstTrials {
		<-host.arrived
	}
	gone, leave := context.WithCancel(t.Context())
	leave()
	if busy := trier.TryCreate(gone, template); !errors.Is(busy.Err, statefulset.ErrBusy) {
		t.Errorf("without a slot: got %v, want %v", busy.Err, statefulset.ErrBusy)
	}
	close(host.answer)
	for range asked {
		if answer := <-answers; answer.Err != nil {
			t.Errorf("got %v, want no error", answer.Err)
		}
	}
	if host.most < firstTrials || host.most > trialsAtOnce || host.askedAs != "somebody-else" {
		t.Errorf("got %d at the same time as %q, want %d to %d as somebody-else", host.most, host.askedAs, firstTrials, trialsAtOnce)
	}
}

// quotaOf is a quota plugin that notes when it looks and when it charges.
type quotaOf struct {
	*admission.Handler
	notes *[]string
}

func (q quotaOf) Validate(_ context.Context, a admission.Attributes, _ admission.ObjectInterfaces) error {
	note := "charged"
	if a.IsDryRun() {
		note = "looked at"
	}
	*q.notes = append(*q.notes, note)
	return nil
}

func TestAQuotaIsChargedAfterTheTrials(t *testing.T) {
	for name, c := range map[string]struct {
		mode   string
		dryRun []string
		want   string
	}{
		"a set that the host refuses":              {"enforce", nil, "looked at"},
		"a set that the host lets pass":            {"warn", nil, "looked at, charged"},
		"a set that is not tried":                  {"off", nil, "charged"},
		"a dry run of a set that the host refuses": {"enforce", []string{metav1.DryRunAll}, "looked at"},
	} {
		t.Run(name, func(t *testing.T) {
			var notes []string
			host := startStrictHost(t)
			s := startServer(t, withPreflight(t, c.mode, host.url), func(config *Config) {
				plugin := quotaOf{admission.NewHandler(admission.Create), &notes}
				config.Generic.AdmissionControl = decorateQuota(plugin, resourcequota.PluginName)
			})
			_, _ = s.sets().Create(t.Context(), web("web"), metav1.CreateOptions{DryRun: c.dryRun})
			if got := strings.Join(notes, ", "); got != c.want {
				t.Errorf("the quota was %s, want %s", got, c.want)
			}
		})
	}
}

func TestASetThatIsAppliedIsTried(t *testing.T) {
	host := startStrictHost(t)
	s := startServer(t, withPreflight(t, "enforce", host.url))
	manifest := `{` + typeMeta + `,"metadata":{"name":"web"},"spec":{"selector":{"matchLabels":{"a":"b"}},"template":{"metadata":{"labels":{"a":"b"}},"spec":{"containers":[{"name":"c","image":"d"}]}}}}`
	_, err := s.sets().Patch(t.Context(), "web", types.ApplyPatchType, []byte(manifest), metav1.PatchOptions{FieldManager: "test"})
	if got := errorText(err); !strings.Contains(got, "spec.template.spec.dnsPolicy") || !slices.Contains(host.questions(), "POST /api/v1/namespaces/default/podtemplates?dryRun=All") {
		t.Errorf("got %q after asking %q, want that the host was asked and has refused", got, host.questions())
	}
}
