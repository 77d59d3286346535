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
	// MostValues is how many values a body may have. A set with 5,000 environment
	// variables, and with the record of who manages them, has about 50,000.
	MostValues = 100_000
	// fewValues is how many values a body may have that is read at any time. An
	// ordinary set has some hundred.
	fewValues = 1_000
	// valuesAtOnce is how many values the other bodies may have together that are read
	// at the same time.
	valuesAtOnce = 200_000
)

// limit keeps bodies from taking more memory than the server has. The limits of the
// generic server count bytes and requests; a body of 3 MiB within these limits could
// take more than a gigabyte when it is read.
type limit struct {
	reading    *semaphore.Weighted
	most       int64 // bytes; a larger body is refused by who reads it
	serializer runtime.NegotiatedSerializer
	next       http.Handler
}

// New is a filter before next. Most is how many bytes a body may have; a larger one is left
// to who reads it.
func New(most int64, serializer runtime.NegotiatedSerializer, next http.Handler) http.Handler {
	return limit{semaphore.NewWeighted(valuesAtOnce), most, serializer, next}
}

func (l limit) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	if req.Body == nil || !slices.Contains([]string{http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete}, req.Method) {
		l.next.ServeHTTP(w, req)
		return
	}
	// What went wrong with a body, its length included, is said by who reads it next.
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
			l.refuse(w, req, apierrors.NewTooManyRequests("other requests with large bodies are under way, try again later", 1))
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

// readAgain is a body that begins with what was read of it already.
type readAgain struct {
	io.Reader
	io.Closer
}
