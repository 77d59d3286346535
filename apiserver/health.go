// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package apiserver

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	genericapiserver "k8s.io/apiserver/pkg/server"
	"k8s.io/apiserver/pkg/server/healthz"
)

// hostCheckTimeout bounds a readiness probe's question to the host.
const hostCheckTimeout = 3 * time.Second

// The generic server brings the checks of etcd, of its informers and of its
// hooks. Those below are ours; each says in its error what is missing.

// addHostCheck makes the server unready while the host cannot be reached. It
// stays alive: a restart would not help, and what is cached is still served.
func addHostCheck(server *genericapiserver.GenericAPIServer, ready func(context.Context) error) error {
	if ready == nil {
		return nil
	}
	return server.AddReadyzChecks(healthz.NamedCheck("host", func(r *http.Request) error {
		ctx, cancel := context.WithTimeout(r.Context(), hostCheckTimeout)
		defer cancel()
		return ready(ctx)
	}))
}

// addStoreCheck makes the server unready while its store is not the right one. It
// stays alive: a restart would not help, an operator does.
func addStoreCheck(server *genericapiserver.GenericAPIServer, guard *guard) error {
	if guard == nil {
		return nil
	}
	return server.AddReadyzChecks(healthz.NamedCheck("store", func(*http.Request) error { return guard.check() }))
}

// addControllerChecks makes the server unready while its controller cannot work,
// and not alive when the controller ended by itself: that is a fault of the
// program which a restart may heal.
func addControllerChecks(server *genericapiserver.GenericAPIServer, controller *runner) error {
	ready := healthz.NamedCheck("controller", func(*http.Request) error { return controller.checkReady() })
	if err := server.AddReadyzChecks(ready); err != nil {
		return fmt.Errorf("adding the controller's readiness check: %w", err)
	}
	alive := healthz.NamedCheck("controller", func(*http.Request) error {
		if err := controller.checkRunning(); errors.Is(err, errReturned) {
			return err
		}
		return nil
	})
	if err := server.AddLivezChecks(0, alive); err != nil {
		return fmt.Errorf("adding the controller's liveness check: %w", err)
	}
	return nil
}
