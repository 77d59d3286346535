//go:build sdk

// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package sdk

import (
	"bytes"
	"encoding/pem"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"sync"
	"testing"

	"k8s.io/client-go/rest"
)

// turns is how many watches are cut off, and how many reads are told to come again.
const turns = 2

// between passes requests on to the cluster, and disturbs those that ask for it by a name.
type between struct {
	*httptest.Server

	mu sync.Mutex
	// resumed are the versions from which the watch that is cut off was asked for.
	resumed   []string
	throttled int
	silenced  bool
}

func stand(t *testing.T) *between {
	t.Helper()
	transport, err := rest.TransportFor(rest.AnonymousClientConfig(suite.Config))
	if err != nil {
		t.Fatalf("preparing the way to the cluster: %v", err)
	}
	address, err := url.Parse(suite.Config.Host)
	if err != nil {
		t.Fatalf("reading the cluster's address: %v", err)
	}
	b := &between{}
	pass := &httputil.ReverseProxy{
		Transport: transport, FlushInterval: -1, ModifyResponse: b.cut, ErrorLog: log.New(io.Discard, "", 0),
		Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(address) },
	}
	b.Server = httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		if req.Method == http.MethodGet && strings.HasSuffix(req.URL.Path, "/throttled") && b.refuses() {
			w.Header().Set("Content-Type", "application/json")
			w.Header().Set("Retry-After", "1")
			w.WriteHeader(http.StatusTooManyRequests)
			_, _ = io.WriteString(w,
				`{"kind":"Status","apiVersion":"v1","status":"Failure","message":"too many requests, try again later","reason":"TooManyRequests","details":{"retryAfterSeconds":1},"code":429}`)
			return
		}
		pass.ServeHTTP(w, req)
	}))
	b.Config.ErrorLog = log.New(io.Discard, "", 0)
	b.StartTLS()
	t.Cleanup(b.Close)
	return b
}

func (b *between) authority() []byte {
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: b.Certificate().Raw})
}

func (b *between) refuses() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.throttled++
	return b.throttled <= turns
}

// cut ends the first watches of the set "cut" in the middle of their second event, and lets the first of the
// set "silent" hang there.
func (b *between) cut(response *http.Response) error {
	query := response.Request.URL.Query()
	watched := query.Get("labelSelector")
	if watch := query.Get("watch"); watch != "true" && watch != "1" || watched != "play=cut" && watched != "play=silent" {
		return nil
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if watched == "play=silent" {
		if !b.silenced {
			response.Body = &half{ReadCloser: response.Body, silent: response.Request.Context().Done()}
		}
		b.silenced = true
		return nil
	}
	b.resumed = append(b.resumed, query.Get("resourceVersion"))
	if len(b.resumed) <= turns {
		response.Body = &half{ReadCloser: response.Body}
	}
	return nil
}

// half is a body that ends with an error 100 bytes after the first line, if it is to be silent only when the
// reader has left.
type half struct {
	io.ReadCloser
	silent <-chan struct{}
	after  int
	begun  bool
}

func (h *half) Read(into []byte) (int, error) {
	const more = 100
	if h.begun && h.after >= more {
		if h.silent != nil {
			<-h.silent
		}
		return 0, io.ErrUnexpectedEOF
	}
	n, err := h.ReadCloser.Read(into)
	from := 0
	if !h.begun {
		if from = bytes.IndexByte(into[:n], '\n') + 1; from == 0 {
			return n, err
		}
		h.begun = true
	}
	kept := min(n-from, more-h.after)
	h.after += kept
	return from + kept, err
}
