// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package apiserver

import (
	"errors"
	"fmt"
	"net/http"

	genericapiserver "k8s.io/apiserver/pkg/server"
	"k8s.io/apiserver/pkg/server/healthz"

	"statefulset.dev/store/guard"
)

// The generic server provides the checks of etcd, of its informers and of its hooks. The checks
// below are from this project; each error says what is missing.
//
// Everyone may call the checks and sees the names of the failed checks. The single checks,
// /readyz/host for example, return reasons to users who have the right to that path in the host
// cluster, and to administrators (group system:masters) without asking the host cluster. Each check
// is cheap, because everyone who reaches the port may call it, and no queue limits that.

// addStoreCheck makes the server unready while its store is not the right one. The server stays
// alive, because not a restart but an operator must resolve that.
func addStoreCheck(server *genericapiserver.GenericAPIServer, g *guard.Guard) error {
	if g == nil {
		return nil
	}
	return server.AddReadyzChecks(healthz.NamedCheck("store", func(*http.Request) error { return g.Check() }))
}

// addControllerChecks makes the server not alive when the controller ended by itself: that is a bug
// that a restart may resolve. controllerPath reports a controller that cannot work, for example
// because it lacks a right.
func addControllerChecks(server *genericapiserver.GenericAPIServer, controller *runner) error {
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
