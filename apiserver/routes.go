// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package apiserver

import (
	"encoding/json"
	"fmt"
	"net/http"

	"github.com/go-chi/chi/v5"
	genericapiserver "k8s.io/apiserver/pkg/server"
	"k8s.io/klog/v2"
)

// Paths that are neither resources nor provided by the generic server. They have the same
// authentication and authorization as everything else; a ClusterRole grants them with
// nonResourceURLs.
const (
	// debugPrefix is the prefix of the controller's debugging information.
	debugPrefix = "/debug/controller/"
	// damagedPath lists the stored sets that cannot be read.
	damagedPath = "/debug/damaged"
	// controllerPath reports whether the controller can do its work. It is separate from the
	// readiness checks of the server: without a working controller, the API still returns the
	// truth, and without the API the cluster could not finish deleting any namespace.
	controllerPath = "/healthz/controller"
)

// ControllerState is what the controller is doing at one moment.
type ControllerState struct {
	// Leading is true if the controller of this process is the one that acts. At most one of the
	// servers of a cluster leads.
	Leading bool `json:"leading"`
	// NotReady is why the controller cannot do its work, empty if it can.
	NotReady string `json:"notReady,omitempty"`
}

// routes answer requests that are not for a resource. Each may be nil.
type routes struct {
	// damaged returns the sets that cannot be read.
	damaged func() any
	// ready returns why the controller cannot do its work, nil if it can.
	ready func() error
	// state returns what the controller is doing.
	state func() ControllerState
}

// addTo adds the routes to a server.
func (r routes) addTo(server *genericapiserver.GenericAPIServer) {
	router, mux := chi.NewRouter(), server.Handler.NonGoRestfulMux
	if r.damaged != nil {
		router.HandleFunc(damagedPath, sendJSON("the damaged sets", r.damaged))
		mux.UnlistedHandle(damagedPath, router)
	}
	if r.ready != nil {
		router.HandleFunc(controllerPath, sendHealth(r.ready))
		mux.UnlistedHandle(controllerPath, router)
	}
	if r.state != nil {
		router.Get(debugPrefix+"state", sendJSON("the controller's state", func() any { return r.state() }))
		mux.UnlistedHandlePrefix(debugPrefix, router)
	}
}

func sendJSON(what string, value func() any) http.HandlerFunc {
	return func(w http.ResponseWriter, req *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		if err := json.NewEncoder(w).Encode(value()); err != nil {
			klog.FromContext(req.Context()).V(2).Info("Failed to send "+what, "err", err)
		}
	}
}

func sendHealth(check func() error) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		if err := check(); err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		fmt.Fprint(w, "ok")
	}
}
