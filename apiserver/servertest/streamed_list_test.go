// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package servertest

import (
	"bytes"
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	genericapiserver "k8s.io/apiserver/pkg/server"

	"statefulset.dev/apiserver"
	"statefulset.dev/apiserver/scheme"
)

func TestAListIsSentObjectByObject(t *testing.T) {
	const sets, each = 20, 10 << 10
	var longest atomic.Int64
	s := Start(t, func(config *apiserver.Config) {
		build := config.Generic.BuildHandlerChainFunc
		config.Generic.BuildHandlerChainFunc = func(handler http.Handler, generic *genericapiserver.Config) http.Handler {
			served := build(handler, generic)
			return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if strings.HasSuffix(r.URL.Path, "/statefulsets") && r.Method == http.MethodGet {
					w = measuredWriter{w, &longest}
				}
				served.ServeHTTP(w, r)
			})
		}
	})
	for n := range sets {
		set := Web(fmt.Sprint("web-", n))
		set.Annotations = map[string]string{"note": strings.Repeat("x", each)}
		s.Create(t, set)
	}
	codecs := serializer.NewCodecFactory(scheme.NewNaming())
	for _, encoding := range []string{runtime.ContentTypeJSON, runtime.ContentTypeProtobuf} {
		longest.Store(0)
		// Compressed, it would be written as the compressor pleases.
		body, err := s.Clients.AppsV1().RESTClient().Get().Namespace(Namespace).Resource("statefulsets").
			SetHeader("Accept", encoding).SetHeader("Accept-Encoding", "identity").Do(t.Context()).Raw()
		if err != nil || len(body) < sets*each {
			t.Fatalf("%s: got %d bytes, %v, want %d or more", encoding, len(body), err, sets*each)
		}
		if most := longest.Load(); most == 0 || most > 2*each {
			t.Errorf("%s: %d of %d bytes were sent at a time, want one set of %d at most", encoding, most, len(body), each)
		}
		list, _, err := codecs.UniversalDeserializer().Decode(body, nil, nil)
		if err != nil {
			t.Fatalf("%s: decoding: %v", encoding, err)
		}
		if whole := Encoded(t, codecs, encoding, list); !bytes.Equal(body, whole) {
			t.Errorf("%s: got\n%.200q\nwant what is sent as a whole\n%.200q", encoding, body, whole)
		}
	}
}

// measuredWriter keeps how much was written at most at a time.
type measuredWriter struct {
	http.ResponseWriter
	longest *atomic.Int64
}

func (w measuredWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }

func (w measuredWriter) Write(p []byte) (int, error) {
	w.longest.Store(max(w.longest.Load(), int64(len(p))))
	return w.ResponseWriter.Write(p)
}
