//go:build security

// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package security

import (
	"bytes"
	"crypto/tls"
	"encoding/json"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"sync"
	"testing"

	authorizationv1 "k8s.io/api/authorization/v1"
	"k8s.io/client-go/kubernetes/scheme"

	"statefulset.dev/test/harness/lab"
)

// reviewer stands before the host, keeps the questions about access that our server asks
// there, and answers none of them while it is told so.
type reviewer struct {
	url string

	mu      sync.Mutex
	out     bool
	reviews []authorizationv1.SubjectAccessReview
}

func (r *reviewer) fail(out bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.out = out
}

// asked are the questions about a user.
func (r *reviewer) asked(user string) (found []authorizationv1.SubjectAccessReview) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, review := range r.reviews {
		if review.Spec.User == user {
			found = append(found, review)
		}
	}
	return found
}

func (r *reviewer) note(body []byte) (out bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if object, _, err := scheme.Codecs.UniversalDeserializer().Decode(body, nil, nil); err == nil {
		if review, ok := object.(*authorizationv1.SubjectAccessReview); ok {
			r.reviews = append(r.reviews, *review)
		}
	}
	return r.out
}

func (w *world) newReviewer(t *testing.T) *reviewer {
	t.Helper()
	cert, key := w.identity(t)
	client, err := tls.X509KeyPair(cert, key)
	if err != nil {
		t.Fatalf("reading the server's certificate: %v", err)
	}
	target, err := url.Parse(w.URL(lab.HostAPI))
	if err != nil {
		t.Fatalf("reading the address of the host: %v", err)
	}
	r := &reviewer{}
	on := &httputil.ReverseProxy{
		Rewrite: func(p *httputil.ProxyRequest) { p.SetURL(target) },
		Transport: &http.Transport{TLSClientConfig: &tls.Config{
			RootCAs: poolOf(w.clusterCA), Certificates: []tls.Certificate{client}, MinVersion: tls.VersionTLS12}, ForceAttemptHTTP2: true},
		FlushInterval: -1, ErrorLog: log.New(io.Discard, "", 0),
	}
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(out http.ResponseWriter, in *http.Request) {
		if !strings.HasPrefix(in.URL.Path, "/apis/authorization.k8s.io/") && !strings.HasPrefix(in.URL.Path, "/apis/authentication.k8s.io/") {
			on.ServeHTTP(out, in)
			return
		}
		body, err := io.ReadAll(in.Body)
		if err != nil || r.note(body) {
			http.Error(out, "the test says that this does not work", http.StatusServiceUnavailable)
			return
		}
		in.Body = io.NopCloser(bytes.NewReader(body))
		on.ServeHTTP(out, in)
	}))
	server.Config.ErrorLog = log.New(io.Discard, "", 0)
	server.TLS = &tls.Config{Certificates: []tls.Certificate{w.clusterCA.issue(t, leaf{name: "host", hosts: []string{"127.0.0.1"}}).tls(t)},
		MinVersion: tls.VersionTLS12}
	server.EnableHTTP2 = true
	server.StartTLS()
	t.Cleanup(func() { server.CloseClientConnections(); server.Close() })
	r.url = server.URL
	return r
}

func decode(t testing.TB, body string, into any) {
	t.Helper()
	if err := json.Unmarshal([]byte(body), into); err != nil {
		t.Fatalf("decoding %.300s: %v", body, err)
	}
}
