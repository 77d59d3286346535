// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package filters

import (
	"net/http"

	v1 "statefulset.dev/api/apps/v1"
	"statefulset.dev/version"
)

// Announce names our version to who may discover our group. Behind the aggregator only
// paths of the group are ours, so /version, which is the cluster's, cannot.
func Announce(handler http.Handler) http.Handler {
	discovery := "/apis/" + v1.SchemeGroupVersion.String()
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == discovery {
			w.Header().Set(version.Header, version.Get().String())
		}
		handler.ServeHTTP(w, r)
	})
}
