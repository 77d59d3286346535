// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package filters

import (
	"context"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

func TestConnectionsAreGivenUpWhenTheyAreSilent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const hold = 500 * time.Millisecond
		begun := make(chan struct{})
		handler := newHandover(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusCreated) }), begun, hold)
		start := time.Now()
		request := func(connection string, wantAnswered time.Duration, wantGivenUp string) {
			answer, r := httptest.NewRecorder(), httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/apis", nil)
			r.RemoteAddr = connection
			handler.ServeHTTP(answer, r)
			if got := time.Since(start); got != wantAnswered {
				t.Errorf("a request of connection %s: answered after %s, want %s", connection, got, wantAnswered)
			}
			if got := answer.Header().Get("Connection"); got != wantGivenUp || answer.Code != http.StatusCreated {
				t.Errorf("a request of connection %s: got code %d and Connection %q, want 201 and %q", connection, answer.Code, got, wantGivenUp)
			}
		}

		request("a", 0, "")
		close(begun)
		var both sync.WaitGroup
		both.Go(func() { request("a", hold, "close") })
		time.Sleep(hold / 5)
		both.Go(func() { request("a", hold, "close") })
		both.Go(func() { request("b", hold/5+hold, "close") })
		both.Wait()
		request("a", hold/5+hold, "close")
	})
}

// Who asked before the begin asks again when the answer has come, and must not do so at
// the moment when the connection is given up.
func TestAConnectionIsNotGivenUpBeforeEarlierRequestsAreAnswered(t *testing.T) {
	const hold = 400 * time.Millisecond
	tests := map[string]struct {
		path     string
		takes    time.Duration
		wantHeld time.Duration
	}{
		"a request that is answered at once":      {"/apis", hold / 4, hold},
		"a request that is answered late":         {"/apis", 2 * hold, 2*hold + hold/2},
		"a request that is answered far too late": {"/apis", 9 * hold, 3 * hold},
		"a watch": {"/apis?watch=1", 9 * hold, hold},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				begun := make(chan struct{})
				handler := newHandover(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
					if r.Method == http.MethodGet {
						time.Sleep(test.takes)
					}
				}), begun, hold)
				request := func(method, path string) {
					r := httptest.NewRequestWithContext(t.Context(), method, path, nil)
					r.RemoteAddr = "a"
					handler.ServeHTTP(httptest.NewRecorder(), r)
				}
				var earlier sync.WaitGroup
				earlier.Go(func() { request(http.MethodGet, test.path) })
				synctest.Wait()
				close(begun)
				start := time.Now()
				request(http.MethodPost, "/apis")
				if got := time.Since(start); got != test.wantHeld {
					t.Errorf("the first request after the begin: answered after %s, want %s", got, test.wantHeld)
				}
				earlier.Wait()
			})
		})
	}
}

func TestARequestThatIsGivenUpIsNotHeld(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		begun := make(chan struct{})
		close(begun)
		handler := newHandover(http.NotFoundHandler(), begun, time.Hour)
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		start := time.Now()
		handler.ServeHTTP(httptest.NewRecorder(), httptest.NewRequestWithContext(ctx, http.MethodGet, "/apis", nil))
		if got := time.Since(start); got != time.Second {
			t.Errorf("got an answer after %s, want 1s", got)
		}
	})
}

// longEnough bounds the wait of a test.
const longEnough = 60 * time.Second

// TestNoRequestIsLostInAHandover sends requests with bodies as kube-apiserver does:
// many clients share one HTTP/2 connection, through a proxy that cannot repeat them.
func TestNoRequestIsLostInAHandover(t *testing.T) {
	const clients = 8
	begun := make(chan struct{})
	echo := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { _, _ = io.Copy(w, r.Body) })
	server := httptest.NewUnstartedServer(newHandover(echo, begun, 50*time.Millisecond))
	server.EnableHTTP2 = true
	server.StartTLS()
	defer server.Close()
	target, err := url.Parse(server.URL)
	if err != nil {
		t.Fatalf("parsing %q: %v", server.URL, err)
	}
	proxy := httptest.NewServer(&httputil.ReverseProxy{
		Transport: server.Client().Transport,
		Rewrite:   func(r *httputil.ProxyRequest) { r.SetURL(target) },
		ErrorLog:  log.New(io.Discard, "", 0),
	})
	defer proxy.Close()

	var running sync.WaitGroup
	var answered atomic.Int64
	for range clients {
		running.Go(func() {
			for begins := false; ; {
				if err := post(t.Context(), proxy.URL); err != nil {
					t.Errorf("a request in a handover: got %v, want an answer", err)
				}
				if begins {
					return
				}
				answered.Add(1)
				select {
				case <-begun:
					begins = true // one more, on another connection
				default:
				}
			}
		})
	}
	for deadline := time.Now().Add(longEnough); answered.Load() < 10*clients; time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("got %d answers within %s, want %d", answered.Load(), longEnough, 10*clients)
		}
	}
	close(begun)
	running.Wait()
}

func post(ctx context.Context, url string) error {
	const body = "a request with a body"
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, url, strings.NewReader(body))
	if err != nil {
		return err
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	got, err := io.ReadAll(response.Body)
	if err == nil && (response.StatusCode != http.StatusOK || string(got) != body) {
		err = fmt.Errorf("%s: %q", response.Status, got)
	}
	return err
}
