// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package filters

import (
	"net/http"

	v1 "statefulset.dev/api/apps/v1"
	"statefulset.dev/version"
)

// Announce adds the version of this server to the discovery response of its group. Behind the
// aggregator, this server gets only requests for paths of the group, and /version belongs to the
// cluster, so it cannot show the version there.
func Announce(handler http.Handler) http.Handler {
	discovery := "/apis/" + v1.SchemeGroupVersion.String()
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == discovery {
			w.Header().Set(version.Header, version.Get().String())
		}
		handler.ServeHTTP(w, r)
	})
}
