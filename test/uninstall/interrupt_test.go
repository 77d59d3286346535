//go:build uninstall

// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package uninstall

import (
	"errors"
	"net/http"
	"sync/atomic"

	"k8s.io/client-go/transport"
)

var errInterrupted = errors.New("interrupted")

// interruptedAfter lets so many writes through, and then no request at all, as if the
// program had been killed.
func interruptedAfter(budget int) transport.WrapperFunc {
	var writes atomic.Int64
	return func(next http.RoundTripper) http.RoundTripper {
		return roundTripper(func(request *http.Request) (*http.Response, error) {
			if request.Method == http.MethodPatch || request.Method == http.MethodDelete {
				writes.Add(1)
			}
			if writes.Load() > int64(budget) {
				return nil, errInterrupted
			}
			return next.RoundTrip(request)
		})
	}
}

type roundTripper func(*http.Request) (*http.Response, error)

func (r roundTripper) RoundTrip(request *http.Request) (*http.Response, error) { return r(request) }
