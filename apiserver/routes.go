// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package apiserver

import (
	"encoding/json"
	"net/http"

	"github.com/go-chi/chi/v5"
	"k8s.io/klog/v2"
)

// debugPrefix is where the routes below are mounted. They are behind the same
// authentication and authorization as everything else; a cluster role permits
// them with nonResourceURLs.
const debugPrefix = "/debug/controller/"

// ControllerState is what the controller is doing at one moment.
type ControllerState struct {
	// Leading says whether this process is the one whose controller acts; of
	// several servers of one cluster it is at most one.
	Leading bool `json:"leading"`
	// NotReady says why the controller cannot do its work, empty if it can.
	NotReady string `json:"notReady,omitempty"`
}

// debugRoutes answers what is not a resource.
func debugRoutes(state func() ControllerState) http.Handler {
	router := chi.NewRouter()
	router.Route(debugPrefix, func(r chi.Router) {
		r.Get("/state", func(w http.ResponseWriter, req *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			if err := json.NewEncoder(w).Encode(state()); err != nil {
				klog.FromContext(req.Context()).V(2).Info("Could not send the controller's state", "err", err)
			}
		})
	})
	return router
}
