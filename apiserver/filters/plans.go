// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package filters

import (
	"net/http"

	"golang.org/x/sync/semaphore"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apiserver/pkg/endpoints/handlers/responsewriters"
	"k8s.io/apiserver/pkg/endpoints/request"

	v1 "statefulset.dev/api/apps/v1"
	"statefulset.dev/registry/statefulset"
)

// planLimit refuses requests for plans before it reads them, if the allowed number of plans is
// already being created.
type planLimit struct {
	shown, proposed *semaphore.Weighted
	serializer      runtime.NegotiatedSerializer
	next            http.Handler
}

// LimitPlans limits how many plans are created at the same time.
func LimitPlans(serializer runtime.NegotiatedSerializer, next http.Handler) http.Handler {
	return planLimit{semaphore.NewWeighted(statefulset.PlansAtOnce), semaphore.NewWeighted(statefulset.PlansAtOnce), serializer, next}
}

func (l planLimit) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	info, ok := request.RequestInfoFrom(req.Context())
	if !ok || info.APIGroup != v1.GroupName || info.Resource != "statefulsets" || info.Subresource != "plan" {
		l.next.ServeHTTP(w, req)
		return
	}
	making := l.shown
	if req.Method == http.MethodPost {
		making = l.proposed
	}
	if !making.TryAcquire(1) {
		responsewriters.ErrorNegotiated(statefulset.TooManyPlans(), l.serializer, v1.SchemeGroupVersion, w, req)
		return
	}
	defer making.Release(1)
	l.next.ServeHTTP(w, req)
}
