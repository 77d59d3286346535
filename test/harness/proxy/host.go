// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package proxy

import (
	"bytes"
	"context"
	"crypto/tls"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"maps"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes/scheme"
)

// Host is a proxy before a kube-apiserver.
type Host struct {
	// URL is where it serves.
	URL string

	target *url.URL
	// known speaks to the target with the client's certificate, bearing only with the
	// token that a request brings.
	known, bearing http.RoundTripper
	gate           atomic.Pointer[Gate]
	faults         atomic.Pointer[Faults]
	seen           atomic.Int64
}

// HostConfig is what a Host needs to stand in for a kube-apiserver.
type HostConfig struct {
	// Target is the address of the kube-apiserver.
	Target string
	// Serving is the certificate by which clients know the kube-apiserver.
	Serving tls.Certificate
	// Client is how the target knows the client, who cannot show it its certificate
	// through a proxy. A client that brings a token is known by that.
	Client *tls.Config
}

// NewHost serves until the test ends.
func NewHost(t testing.TB, config HostConfig) *Host {
	t.Helper()
	target, err := url.Parse(config.Target)
	if err != nil {
		t.Fatalf("reading the address of the host: %v", err)
	}
	anonymous := config.Client.Clone()
	anonymous.Certificates = nil
	known, bearing := newTransport(config.Client.Clone()), newTransport(anonymous)
	listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatalf("listening for a host proxy: %v", err)
	}
	h := &Host{URL: "https://" + listener.Addr().String(), target: target, known: known, bearing: bearing}
	server := &http.Server{
		Handler:   h.handler(),
		TLSConfig: &tls.Config{Certificates: []tls.Certificate{config.Serving}, MinVersion: tls.VersionTLS12},
		// Clients die in the middle of everything; that is what this is for.
		ErrorLog: log.New(io.Discard, "", 0),
	}
	go func() { _ = server.ServeTLS(listener, "", "") }()
	t.Cleanup(func() {
		_ = server.Close()
		known.CloseIdleConnections()
		bearing.CloseIdleConnections()
	})
	return h
}

// newTransport keeps many connections, so that a write which is held does not make
// others wait.
func newTransport(config *tls.Config) *http.Transport {
	return &http.Transport{TLSClientConfig: config, ForceAttemptHTTP2: true, MaxIdleConnsPerHost: 64}
}

// Ask makes the gate be asked from now on. Nil asks nobody.
func (h *Host) Ask(gate Gate) { h.gate.Store(&gate) }

// Fail makes requests fail from now on. Nil lets them succeed.
func (h *Host) Fail(faults Faults) { h.faults.Store(&faults) }

// Writes counts the writes that have arrived.
func (h *Host) Writes() int64 { return h.seen.Load() }

func (h *Host) handler() http.Handler {
	through := &httputil.ReverseProxy{
		Rewrite: func(r *httputil.ProxyRequest) {
			r.SetURL(h.target)
			r.Out.Host = h.target.Host
		},
		Transport:     roundTripper(func(r *http.Request) (*http.Response, error) { return h.transport(r).RoundTrip(r) }),
		FlushInterval: -1,
		ErrorLog:      log.New(io.Discard, "", 0),
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		write, mutates, err := understand(r)
		switch {
		case err != nil:
			http.Error(w, err.Error(), http.StatusInternalServerError)
		case write == nil:
			through.ServeHTTP(w, r)
		case mutates:
			h.seen.Add(1)
			h.write(w, r, write)
		default:
			if fault := h.fault(write); fault.Code != 0 {
				answer(w, fault)
				return
			}
			through.ServeHTTP(w, r)
		}
	})
}

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

func (h *Host) transport(r *http.Request) http.RoundTripper {
	if r.Header.Get("Authorization") != "" {
		return h.bearing
	}
	return h.known
}

// write carries a write out, and asks and fails on the way.
func (h *Host) write(w http.ResponseWriter, r *http.Request, write *Write) {
	h.ask(r.Context(), Before, write)
	if r.Context().Err() != nil {
		return
	}
	fault := h.fault(write)
	if fault.Code != 0 && !fault.Commit {
		answer(w, fault)
		return
	}
	response, body, err := h.sendOn(r) //nolint:bodyclose // read and closed by then
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadGateway)
		return
	}
	write.OK = response.StatusCode < http.StatusMultipleChoices
	h.ask(r.Context(), Committed, write)
	if fault.Code != 0 {
		answer(w, fault)
		return
	}
	maps.Copy(w.Header(), response.Header)
	w.WriteHeader(response.StatusCode)
	_, _ = w.Write(body)
	_ = http.NewResponseController(w).Flush()
	h.ask(r.Context(), Replied, write)
}

func (h *Host) sendOn(r *http.Request) (*http.Response, []byte, error) {
	out := r.Clone(context.WithoutCancel(r.Context()))
	out.URL.Scheme, out.URL.Host, out.Host, out.RequestURI = h.target.Scheme, h.target.Host, h.target.Host, ""
	response, err := h.transport(out).RoundTrip(out)
	if err != nil {
		return nil, nil, err
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	return response, body, err
}

func (h *Host) ask(ctx context.Context, at Point, write *Write) {
	if gate := h.gate.Load(); gate != nil && *gate != nil {
		(*gate)(ctx, at, write)
	}
}

func (h *Host) fault(write *Write) Fault {
	if faults := h.faults.Load(); faults != nil && *faults != nil {
		return (*faults)(write)
	}
	return Fault{}
}

// answer is a fault as the host would say it.
func answer(w http.ResponseWriter, fault Fault) {
	status := metav1.Status{
		TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Status"}, Status: metav1.StatusFailure, Code: int32(fault.Code),
		Reason: reason(fault.Code), Message: "the test says " + http.StatusText(fault.Code),
	}
	if fault.RetryAfter > 0 {
		seconds := int(fault.RetryAfter.Seconds())
		w.Header().Set("Retry-After", strconv.Itoa(seconds))
		status.Details = &metav1.StatusDetails{RetryAfterSeconds: int32(seconds)}
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(fault.Code)
	_ = json.NewEncoder(w).Encode(status)
}

func reason(code int) metav1.StatusReason {
	switch code {
	case http.StatusConflict:
		return metav1.StatusReasonConflict
	case http.StatusTooManyRequests:
		return metav1.StatusReasonTooManyRequests
	case http.StatusServiceUnavailable:
		return metav1.StatusReasonServiceUnavailable
	case http.StatusGatewayTimeout:
		return metav1.StatusReasonTimeout
	default:
		return metav1.StatusReasonInternalError
	}
}

// understand tells what a request is about. Nil is one that the test has no part in:
// it concerns no object of a set, is a watch or a list, or only tries.
func understand(r *http.Request) (write *Write, mutates bool, err error) {
	segments := strings.Split(strings.Trim(r.URL.Path, "/"), "/")
	at := slices.Index(segments, "namespaces")
	if at < 0 || len(segments) < at+3 || !slices.Contains(resources(), segments[at+2]) || r.URL.Query().Has("dryRun") {
		return nil, false, nil
	}
	write = &Write{Verb: r.Method, Namespace: segments[at+1], Resource: segments[at+2]}
	if len(segments) > at+3 {
		write.Name = segments[at+3]
	}
	if len(segments) > at+4 {
		write.Resource += "/" + segments[at+4]
	}
	if r.Method == http.MethodGet {
		if write.Name == "" || r.URL.Query().Has("watch") {
			return nil, false, nil
		}
		return write, false, nil
	}
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, false, fmt.Errorf("reading a request: %w", err)
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	if write.Name == "" {
		write.Name = nameIn(body)
	}
	return write, true, nil
}

// resources are those that belong to sets.
func resources() []string {
	return []string{"pods", "persistentvolumeclaims", "controllerrevisions", "statefulsets", "configmaps"}
}

// nameIn is the name of the object in a body, in any encoding.
func nameIn(body []byte) string {
	object, _, err := scheme.Codecs.UniversalDeserializer().Decode(body, nil, nil)
	if err != nil {
		return ""
	}
	accessor, err := meta.Accessor(object)
	if err != nil {
		return ""
	}
	return accessor.GetName()
}
