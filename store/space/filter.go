// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package space

import (
	"net/http"
	"slices"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apiserver/pkg/endpoints/handlers/responsewriters"
	"k8s.io/apiserver/pkg/endpoints/request"

	v1 "statefulset.dev/api/apps/v1"
)

// Filter refuses requests for which there is no room before next reads them.
func (r *Room) Filter(serializer runtime.NegotiatedSerializer, next http.Handler) http.Handler {
	return gate{r, serializer, next}
}

// gate refuses a request before its body is read, if its namespace has no room for that many bytes.
// So a flood of refused writes costs little. The stored object may be larger, for example after a
// patch, so the storage checks it again.
type gate struct {
	room       *Room
	serializer runtime.NegotiatedSerializer
	next       http.Handler
}

func (g gate) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	info, ok := request.RequestInfoFrom(req.Context())
	if !ok || !slices.Contains([]string{"create", "update", "patch"}, info.Verb) || !slices.Contains([]string{"", "scale"}, info.Subresource) {
		g.next.ServeHTTP(w, req)
		return
	}
	if err := g.room.peek(info.Namespace, req.ContentLength); err != nil {
		responsewriters.ErrorNegotiated(err, g.serializer, v1.SchemeGroupVersion, w, req)
		return
	}
	g.next.ServeHTTP(w, req)
}
