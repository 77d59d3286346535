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

// What is answered beside resources and what the generic server brings. All of it is behind
// the same authentication and authorization as everything else; a cluster role permits it
// with nonResourceURLs.
const (
	// debugPrefix is where people look into the controller.
	debugPrefix = "/debug/controller/"
	// damagedPath tells which stored sets cannot be read.
	damagedPath = "/debug/damaged"
	// controllerPath says whether the controller can do its work. It is apart from the checks
	// by which the server is ready: an API that nobody works for is still the truth, and
	// without it the cluster could not finish deleting any namespace.
	controllerPath = "/healthz/controller"
)

// ControllerState is what the controller is doing at one moment.
type ControllerState struct {
	// Leading says whether this process is the one whose controller acts; of
	// several servers of one cluster it is at most one.
	Leading bool `json:"leading"`
	// NotReady says why the controller cannot do its work, empty if it can.
	NotReady string `json:"notReady,omitempty"`
}

// routes are answers to what is not a resource. Each may be nil.
type routes struct {
	// damaged are the sets that cannot be read.
	damaged func() any
	// ready says why the controller cannot do its work, nil if it can.
	ready func() error
	// state is what the controller is doing.
	state func() ControllerState
}

// addTo makes a server answer them.
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
			klog.FromContext(req.Context()).V(2).Info("Could not send "+what, "err", err)
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
