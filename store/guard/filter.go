// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package guard

import (
	"context"
	"net/http"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apiserver/pkg/endpoints/handlers/responsewriters"
	"k8s.io/apiserver/pkg/endpoints/request"
	"k8s.io/apiserver/pkg/endpoints/responsewriter"

	v1 "statefulset.dev/api/apps/v1"
)

// gate filters all requests below /apis. While nothing may be served, it answers 503 with the
// reason, also to discovery, so that the cluster considers the API unavailable and no client
// considers it empty.
type gate struct {
	guard      *Guard
	serializer runtime.NegotiatedSerializer
	next       http.Handler
}

func (g gate) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	if req.URL.Path != "/apis" && !strings.HasPrefix(req.URL.Path, "/apis/") {
		g.next.ServeHTTP(w, req)
		return
	}
	if err := g.guard.Check(); err != nil {
		g.refuse(w, req, err)
		return
	}
	info, ok := request.RequestInfoFrom(req.Context())
	if !ok || !info.IsResourceRequest {
		g.next.ServeHTTP(w, req)
		return
	}
	if info.Verb == "watch" {
		g.watch(w, req)
		return
	}
	answer := &confirmingWriter{ResponseWriter: w, gate: g, request: req, list: info.Verb == "list"}
	g.next.ServeHTTP(responsewriter.WrapForHTTP1Or2(answer), req)
}

// watch makes a client list again if its watch continues from another store. It ends the watch when
// the store is lost, because no more events would follow.
func (g gate) watch(w http.ResponseWriter, req *http.Request) {
	ctx, cancel := context.WithCancel(req.Context())
	defer cancel()
	defer context.AfterFunc(g.guard.wrong, cancel)()
	req = req.WithContext(ctx)
	query := req.URL.Query()
	err := g.guard.reaches(ctx, query.Get("resourceVersion"))
	if err == nil && query.Get("sendInitialEvents") != "" {
		// The initial events are a list, and must be true now like a list.
		err = g.guard.confirm(ctx)
	}
	switch {
	case err == nil:
		g.next.ServeHTTP(w, req)
	case apierrors.IsResourceExpired(err):
		g.answer(w, req, err)
	default:
		g.refuse(w, req, err)
	}
}

// refuse answers 503 whatever the reason is: an error of the host cluster that says that something
// was not found must not be taken for an answer about a set.
func (g gate) refuse(w http.ResponseWriter, req *http.Request, why error) {
	g.answer(w, req, apierrors.NewServiceUnavailable(why.Error()))
}

func (g gate) answer(w http.ResponseWriter, req *http.Request, err error) {
	for _, header := range []string{"Content-Encoding", "Content-Length", "Content-Type"} {
		w.Header().Del(header)
	}
	responsewriters.ErrorNegotiated(err, g.serializer, v1.SchemeGroupVersion, w, req)
}

// confirmingWriter is for an answer that may say that something does not exist. Before it sends
// that, it makes sure that the data came from the right store: the store may be replaced while the
// server runs, and the server does not read the record before everything else that it reads.
type confirmingWriter struct {
	http.ResponseWriter
	gate    gate
	request *http.Request
	list    bool

	begun, refused bool
}

var _ responsewriter.UserProvidedDecorator = &confirmingWriter{}

// Unwrap returns the underlying writer.
func (d *confirmingWriter) Unwrap() http.ResponseWriter { return d.ResponseWriter }

// WriteHeader sends the code, or 503 with the reason why the answer cannot be trusted.
func (d *confirmingWriter) WriteHeader(code int) {
	d.begun = true
	if code == http.StatusNotFound || d.list && code == http.StatusOK {
		if err := d.gate.guard.confirm(d.request.Context()); err != nil {
			d.refused = true
			d.gate.refuse(d.ResponseWriter, d.request, err)
			return
		}
	}
	d.ResponseWriter.WriteHeader(code)
}

// Write sends a part of the body, or drops it if the answer was refused.
func (d *confirmingWriter) Write(body []byte) (int, error) {
	if !d.begun {
		d.WriteHeader(http.StatusOK)
	}
	if d.refused {
		return len(body), nil
	}
	return d.ResponseWriter.Write(body)
}
