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

// The generic server brings the checks of etcd, of its informers and of its
// hooks. Those below are ours; each says in its error what is missing.
//
// Everybody may ask for the checks and is told the names of those that fail. Reasons are
// told by the single checks, /readyz/host for example, to whom the host permits that
// path, and to administrators (group system:masters) without asking the host. Each check
// is cheap: whoever reaches the port may ask, and no queue is in the way.

// addStoreCheck makes the server unready while its store is not the right one. It
// stays alive: a restart would not help, an operator does.
func addStoreCheck(server *genericapiserver.GenericAPIServer, g *guard.Guard) error {
	if g == nil {
		return nil
	}
	return server.AddReadyzChecks(healthz.NamedCheck("store", func(*http.Request) error { return g.Check() }))
}

// addControllerChecks makes the server not alive when the controller ended by itself:
// that is a fault of the program which a restart may heal. One that cannot work, for
// want of a right for example, is told of at controllerPath.
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
