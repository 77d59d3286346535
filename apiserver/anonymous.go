// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package apiserver

import (
	"net/http"
	"strings"

	"k8s.io/apiserver/pkg/authentication/authenticator"
	"k8s.io/apiserver/pkg/authentication/user"
)

// healthAnonymous lets nobody in without credentials, except to ask how the
// server is. The options of the generic server can only allow anonymous requests
// everywhere.
type healthAnonymous struct {
	authenticator.Request
}

func (a healthAnonymous) AuthenticateRequest(req *http.Request) (*authenticator.Response, bool, error) {
	response, ok, err := a.Request.AuthenticateRequest(req)
	if ok && response.User.GetName() == user.Anonymous && !isHealthPath(req.URL.Path) {
		return nil, false, nil
	}
	return response, ok, err
}

func isHealthPath(path string) bool {
	for _, root := range []string{"/healthz", "/livez", "/readyz"} {
		if path == root || strings.HasPrefix(path, root+"/") {
			return true
		}
	}
	return false
}
