// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package preflight

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
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
	runner, err := newDryRunner(&rest.Config{Host: server.URL}, "somebody-else", nil)
	if err != nil {
		t.Fatal(err)
	}
	template := &corev1.PodTemplate{ObjectMeta: metav1.ObjectMeta{GenerateName: "x-", Namespace: "shop"}}
	answers := make(chan Answer, asked)
	for range asked {
		go func() { answers <- runner.TryCreate(t.Context(), template) }()
	}
	for range firstTrials {
		<-host.arrived
	}
	gone, leave := context.WithCancel(t.Context())
	leave()
	if busy := runner.TryCreate(gone, template); !errors.Is(busy.Err, ErrBusy) {
		t.Errorf("without a slot: got %v, want %v", busy.Err, ErrBusy)
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
