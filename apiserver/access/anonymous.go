// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package access

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"time"

	"golang.org/x/sync/semaphore"
	"k8s.io/apiserver/pkg/authentication/authenticator"
	"k8s.io/apiserver/pkg/authentication/user"
)

// healthAnonymous rejects requests without credentials, except to the health checks. The options of
// the generic server can only allow anonymous requests everywhere.
type healthAnonymous struct {
	authenticator.Request
}

func (a healthAnonymous) AuthenticateRequest(req *http.Request) (*authenticator.Response, bool, error) {
	response, ok, err := a.Request.AuthenticateRequest(req)
	if ok && response.User.GetName() == user.Anonymous && !slices.Contains(healthPaths(), req.URL.Path) {
		return nil, false, nil
	}
	return response, ok, err
}

// healthPaths returns the checks that only name what fails, without the reasons. The paths below
// them return a reason; these are for callers that the host cluster permits, so a caller without a
// name is rejected without asking it.
func healthPaths() []string { return []string{"/healthz", "/livez", "/readyz"} }

const (
	// tokensAtOnce is how many requests with a token are authenticated at the same time. Each new
	// token causes a request to the host cluster. Anyone who reaches the port can cause these
	// requests, and no queue runs before them.
	tokensAtOnce = 100
	// longestTokenWait is how long other requests with a token wait for their turn.
	longestTokenWait = time.Second
)

var errManyTokens = errors.New("too many requests with tokens are being authenticated, try again later")

// boundedTokens limits how many requests with tokens are authenticated at the same time, so that a
// flood of random tokens does not pile up.
type boundedTokens struct {
	authenticator.Request
	room *semaphore.Weighted
}

func newBoundedTokens(next authenticator.Request) boundedTokens {
	return boundedTokens{next, semaphore.NewWeighted(tokensAtOnce)}
}

func (b boundedTokens) AuthenticateRequest(req *http.Request) (*authenticator.Response, bool, error) {
	if !bearsToken(req) {
		return b.Request.AuthenticateRequest(req)
	}
	ctx, cancel := context.WithTimeout(req.Context(), longestTokenWait)
	defer cancel()
	if b.room.Acquire(ctx, 1) != nil {
		return nil, false, errManyTokens
	}
	defer b.room.Release(1)
	return b.Request.AuthenticateRequest(req)
}

// bearsToken reports whether a request has a token. Browsers send it in the protocol of a
// WebSocket.
func bearsToken(req *http.Request) bool {
	return req.Header.Get("Authorization") != "" || req.Header.Get("Sec-WebSocket-Protocol") != ""
}
