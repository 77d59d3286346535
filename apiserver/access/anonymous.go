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

// healthAnonymous lets nobody in without credentials, except to ask how the
// server is. The options of the generic server can only allow anonymous requests
// everywhere.
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

// healthPaths name the checks that fail, and withhold the reasons. A path below them
// tells a reason; it is for whom the host permits it, and who has no name is not worth
// the question.
func healthPaths() []string { return []string{"/healthz", "/livez", "/readyz"} }

const (
	// tokensAtOnce is how many requests with a token may be looked into at a time. Each
	// token that is new is a question to the host, which anybody can cause who reaches
	// the port, and before any queue.
	tokensAtOnce = 100
	// longestTokenWait is how long others wait for their turn.
	longestTokenWait = time.Second
)

var errManyTokens = errors.New("too many requests with tokens are being looked into, try again later")

// boundedTokens keeps a flood of random tokens from piling up.
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

// bearsToken also finds those that browsers send in the protocol of a WebSocket.
func bearsToken(req *http.Request) bool {
	return req.Header.Get("Authorization") != "" || req.Header.Get("Sec-WebSocket-Protocol") != ""
}
