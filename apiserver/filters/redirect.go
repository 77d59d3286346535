// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package filters

import "net/http"

// Unredirect answers requests that the generic server would redirect.
func Unredirect(next http.Handler) http.Handler { return unredirected{next} }

// unredirected answers requests that the generic server would redirect. A redirect from a server
// behind the host cluster leads clients to a wrong address, where they send their credentials.
type unredirected struct{ http.Handler }

func (u unredirected) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	if req.URL.Path == "/debug/pprof" {
		to := *req.URL
		to.Path, to.RawPath = to.Path+"/", ""
		there := *req
		there.URL = &to
		req = &there
	}
	u.Handler.ServeHTTP(w, req)
}
