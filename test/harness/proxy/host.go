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
	// URL is its address.
	URL string

	target *url.URL
	// known connects to the target with the client's certificate, bearing only with the token in a
	// request.
	known, bearing http.RoundTripper
	gate           atomic.Pointer[Gate]
	faults         atomic.Pointer[Faults]
	seen           atomic.Int64
}

// HostConfig is what a Host needs to represent a kube-apiserver.
type HostConfig struct {
	// Target is the address of the kube-apiserver.
	Target string
	// Serving is the certificate with which clients verify the kube-apiserver.
	Serving tls.Certificate
	// Client authenticates the client to the target, because the client cannot present its
	// certificate through a proxy. A client with a token is authenticated by the token.
	Client *tls.Config
}

// NewHost serves until the test ends.
func NewHost(t testing.TB, config HostConfig) *Host {
	t.Helper()
	target, err := url.Parse(config.Target)
	if err != nil {
		t.Fatalf("parsing the address of the host cluster: %v", err)
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
		// Errors of connections are expected, because clients die at any point.
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

// newTransport keeps many connections, so that a delayed write does not delay others.
func newTransport(config *tls.Config) *http.Transport {
	return &http.Transport{TLSClientConfig: config, ForceAttemptHTTP2: true, MaxIdleConnsPerHost: 64}
}

// Ask sets the gate for requests from now on. Nil removes it.
func (h *Host) Ask(gate Gate) { h.gate.Store(&gate) }

// Fail makes requests fail from now on. Nil lets them succeed.
func (h *Host) Fail(faults Faults) { h.faults.Store(&faults) }

// Writes returns the number of writes that have arrived.
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

// write carries out a write, and calls the gate and injects faults at its points.
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
	response, body, err := h.sendOn(r) //nolint:bodyclose // sendOn reads and closes it
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

// answer sends a fault in the form of the host cluster.
func answer(w http.ResponseWriter, fault Fault) {
	status := metav1.Status{
		TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Status"}, Status: metav1.StatusFailure, Code: int32(fault.Code),
		Reason: reason(fault.Code), Message: "injected by the test: " + http.StatusText(fault.Code),
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

// understand returns what a request writes or reads. It returns nil for requests that do not
// concern the test: requests for objects that do not belong to sets, watches, lists, and dry runs.
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

// resources returns the resources that belong to sets.
func resources() []string {
	return []string{"pods", "persistentvolumeclaims", "controllerrevisions", "statefulsets", "configmaps"}
}

// nameIn returns the name of the object in a body, in any encoding.
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
