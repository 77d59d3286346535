// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package bodylimit

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"slices"

	"golang.org/x/sync/semaphore"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apiserver/pkg/endpoints/handlers/responsewriters"

	v1 "statefulset.dev/api/apps/v1"
)

const (
	// MostValues is how many values a body may have. A set with 5,000 environment variables, and
	// with their managed fields, has about 50,000.
	MostValues = 100_000
	// fewValues is how many values a body may have to be decoded at any time. An ordinary set has a
	// few hundred.
	fewValues = 1_000
	// valuesAtOnce is how many values all larger bodies that are decoded at the same time may have
	// together.
	valuesAtOnce = 200_000
)

// limit limits the memory that bodies need. The limits of the generic server count bytes and
// requests, but a body of 3 MiB within these limits could need more than a gigabyte when it is
// decoded.
type limit struct {
	reading    *semaphore.Weighted
	most       int64 // bytes; the next handler refuses a larger body
	serializer runtime.NegotiatedSerializer
	next       http.Handler
}

// New returns a filter before next. most is how many bytes a body may have; next refuses a larger
// one.
func New(most int64, serializer runtime.NegotiatedSerializer, next http.Handler) http.Handler {
	return limit{semaphore.NewWeighted(valuesAtOnce), most, serializer, next}
}

func (l limit) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	if req.Body == nil || !slices.Contains([]string{http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete}, req.Method) {
		l.next.ServeHTTP(w, req)
		return
	}
	// The next handler reports what is wrong with a body, including its length.
	body, err := io.ReadAll(io.LimitReader(req.Body, l.most+1))
	req = req.WithContext(req.Context())
	req.Body = readAgain{io.MultiReader(bytes.NewReader(body), req.Body), req.Body}
	if err != nil || int64(len(body)) > l.most {
		l.next.ServeHTTP(w, req)
		return
	}
	contentType := req.Header.Get("Content-Type")
	values := estimateValues(contentType, body)
	if values > fewValues && values <= MostValues {
		if !l.reading.TryAcquire(int64(values)) {
			l.refuse(w, req, apierrors.NewTooManyRequests("too many other requests with large bodies are in progress, try again later", 1))
			return
		}
		defer l.reading.Release(int64(values))
		values = max(values, exactValues(contentType, body))
	}
	if values > MostValues {
		l.refuse(w, req, apierrors.NewRequestEntityTooLargeError(tooManyValues(values)))
		return
	}
	l.next.ServeHTTP(w, req)
}

func tooManyValues(values int) string {
	return fmt.Sprintf("the body has %d objects, fields and list items, limit is %d", values, MostValues)
}

func (l limit) refuse(w http.ResponseWriter, req *http.Request, why error) {
	responsewriters.ErrorNegotiated(why, l.serializer, v1.SchemeGroupVersion, w, req)
}

// readAgain is a body that begins with the part that was already read.
type readAgain struct {
	io.Reader
	io.Closer
}
