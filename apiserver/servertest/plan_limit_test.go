// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package servertest

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"k8s.io/client-go/rest"

	v1 "statefulset.dev/api/apps/v1"
	"statefulset.dev/apiserver"
	"statefulset.dev/registry/statefulset"
)

// waiting is a planner whose plans are made when it is told so, or their caller leaves.
type waiting struct {
	repeating
	making, left chan struct{}
	finish       chan struct{}
}

func (w waiting) Current(ctx context.Context, set *v1.StatefulSet, neighbours []v1.StatefulSet) (*v1.StatefulSetPlan, error) {
	return w.Proposed(ctx, set, neighbours)
}

func (w waiting) Proposed(ctx context.Context, set *v1.StatefulSet, neighbours []v1.StatefulSet) (*v1.StatefulSetPlan, error) {
	w.making <- struct{}{}
	select {
	case <-w.finish:
		return w.repeating.Proposed(ctx, set, neighbours)
	case <-ctx.Done():
		w.left <- struct{}{}
		return nil, ctx.Err()
	}
}

func TestFourPlansAreMadeAtATime(t *testing.T) {
	planner := waiting{making: make(chan struct{}), left: make(chan struct{}), finish: make(chan struct{})}
	s := Start(t, func(c *apiserver.Config) { c.Planner = planner })
	s.Create(t, Web("web"))
	transport, err := rest.HTTPClientFor(s.Loopback)
	if err != nil {
		t.Fatal(err)
	}
	scale := `{"apiVersion":"autoscaling/v1","kind":"Scale","metadata":{"name":"web"},"spec":{"replicas":1}}`
	send := func(ctx context.Context, method, body string) (int, string) {
		req, err := http.NewRequestWithContext(ctx, method, s.Loopback.Host+setsPath+"/web/plan", strings.NewReader(body))
		if err != nil {
			t.Errorf("building a request: %v", err)
			return 0, ""
		}
		req.Header.Set("Content-Type", "application/json")
		answer, err := transport.Do(req)
		if err != nil {
			return 0, ""
		}
		defer answer.Body.Close()
		_, _ = io.Copy(io.Discard, answer.Body)
		return answer.StatusCode, answer.Header.Get("Retry-After")
	}
	for _, c := range []struct {
		method, body string
		served       int
	}{{http.MethodPost, scale, http.StatusCreated}, {http.MethodGet, "", http.StatusOK}} {
		ctx, leave := context.WithCancel(t.Context())
		defer leave()
		codes := make(chan int)
		for range statefulset.PlansAtOnce {
			go func() { code, _ := send(ctx, c.method, c.body); codes <- code }()
			<-planner.making
		}
		for range 3 {
			if code, after := send(t.Context(), c.method, c.body); code != http.StatusTooManyRequests || after != "1" {
				t.Errorf("%s with four under way: got %d and Retry-After %q, want 429 and 1", c.method, code, after)
			}
		}
		// A body that is not even JSON tells that nothing was read of it.
		if code, _ := send(t.Context(), c.method, "["); code != http.StatusTooManyRequests {
			t.Errorf("%s of a bad body with four under way: got %d, want 429", c.method, code)
		}
		leave()
		for range statefulset.PlansAtOnce {
			<-planner.left
			if code := <-codes; code != 0 {
				t.Errorf("%s whose caller has left: got %d, want none", c.method, code)
			}
		}
		s.Eventually(t, "a plan is made after the others have left", func(context.Context) error {
			answered := make(chan int)
			go func() { code, _ := send(t.Context(), c.method, c.body); answered <- code }()
			select {
			case <-planner.making:
				planner.finish <- struct{}{}
			case code := <-answered:
				return fmt.Errorf("got %d", code)
			}
			if code := <-answered; code != c.served {
				t.Errorf("%s after the others have left: got %d, want %d", c.method, code, c.served)
			}
			return nil
		})
	}
}
