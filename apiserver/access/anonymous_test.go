// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package access

import (
	"errors"
	"fmt"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"

	"k8s.io/apiserver/pkg/authentication/authenticator"
	"k8s.io/apiserver/pkg/authentication/user"
)

func TestRandomTokensDoNotPileUp(t *testing.T) {
	release := make(chan struct{})
	inside := atomic.Int64{}
	most := atomic.Int64{}
	bounded := newBoundedTokens(authenticator.RequestFunc(func(req *http.Request) (*authenticator.Response, bool, error) {
		if !bearsToken(req) {
			return &authenticator.Response{User: &user.DefaultInfo{Name: "proxied"}}, true, nil
		}
		now := inside.Add(1)
		defer inside.Add(-1)
		for old := most.Load(); now > old && !most.CompareAndSwap(old, now); old = most.Load() {
		}
		<-release
		return nil, false, nil
	}))
	request := func(token string) error {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "/apis", http.NoBody)
		if err != nil {
			return err
		}
		if token != "" {
			req.Header.Set("Authorization", "Bearer "+token)
		}
		_, _, err = bounded.AuthenticateRequest(req)
		return err
	}

	const tokens = 500
	var refused atomic.Int64
	var asking, ended sync.WaitGroup
	ended.Add(tokens - tokensAtOnce)
	for i := range tokens {
		asking.Go(func() {
			if err := request(fmt.Sprint("random-", i)); errors.Is(err, errManyTokens) {
				refused.Add(1)
				ended.Done()
			}
		})
	}
	ended.Wait() // all that had to wait were refused, while none was answered
	if got := most.Load(); got != tokensAtOnce {
		t.Errorf("tokens that the host was asked about at a time: got %d, want %d", got, tokensAtOnce)
	}
	if err := request(""); err != nil {
		t.Errorf("a request that bears no token, such as those through the host: got %v, want no error", err)
	}
	close(release)
	asking.Wait()
	if got := refused.Load(); got != tokens-tokensAtOnce {
		t.Errorf("refused: got %d of %d, want %d", got, tokens, tokens-tokensAtOnce)
	}
}
