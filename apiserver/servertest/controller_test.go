// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package servertest

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"

	"statefulset.dev/apiserver"
	"statefulset.dev/client/clientset/versioned"
)

func TestTheControllerRunsWhileTheServerServes(t *testing.T) {
	stopped := make(chan error, 1)
	controller := func(ctx context.Context, loopback *rest.Config) error {
		clients, err := versioned.NewForConfig(loopback)
		if err != nil {
			return err
		}
		<-ctx.Done()
		// What a controller does last, such as giving up a lease, must still work.
		_, err = clients.AppsV1().StatefulSets(Namespace).List(context.WithoutCancel(ctx), metav1.ListOptions{})
		stopped <- err
		return nil
	}
	t.Run("a server with a controller", func(t *testing.T) {
		s := Start(t, func(c *apiserver.Config) { c.RunController = controller })
		s.Create(t, Web("web"))
	})
	select {
	case err := <-stopped:
		if err != nil {
			t.Errorf("using the server while it stops: %v", err)
		}
	default:
		t.Error("the server has stopped before its controller")
	}
}

func TestAControllerThatEndsMakesTheServerUnhealthy(t *testing.T) {
	end := make(chan struct{})
	s := Start(t, func(c *apiserver.Config) {
		c.RunController = func(context.Context, *rest.Config) error {
			<-end
			return errors.New("no more")
		}
	})
	close(end)
	for _, path := range []string{"/healthz/controller", "/livez/controller"} {
		s.Eventually(t, path+" names the reason", func(ctx context.Context) error {
			code, text := s.get(ctx, path)
			if code != http.StatusInternalServerError || !strings.Contains(text, "ended by itself") {
				return fmt.Errorf("got %d, %q, want 500 and the reason", code, text)
			}
			return nil
		})
	}
}

func TestAControllerThatCannotWorkDoesNotTakeTheAPIAway(t *testing.T) {
	s := Start(t, func(c *apiserver.Config) {
		c.RunController = func(ctx context.Context, _ *rest.Config) error { <-ctx.Done(); return nil }
		c.ControllerReady = func() error { return errors.New("it may not list controllerrevisions") }
	})
	for path, want := range map[string]int{
		"/readyz": http.StatusOK, "/livez": http.StatusOK, "/healthz/controller": http.StatusInternalServerError} {
		if code, text := s.get(t.Context(), path); code != want {
			t.Errorf("%s: got %d, %q, want %d", path, code, text, want)
		}
	}
	if _, text := s.get(t.Context(), "/healthz/controller"); !strings.Contains(text, "may not list controllerrevisions") {
		t.Errorf("/healthz/controller: got %q, want the reason", text)
	}
	s.Create(t, Web("web"))
}

// get is what the server answers at a path.
func (s *Server) get(ctx context.Context, path string) (code int, text string) {
	raw, err := s.Clients.Discovery().RESTClient().Get().AbsPath(path).Do(ctx).StatusCode(&code).Raw()
	if err != nil && len(raw) == 0 {
		return code, err.Error()
	}
	return code, string(raw)
}

func TestTheStateOfTheControllerCanBeAskedFor(t *testing.T) {
	s := Start(t, func(c *apiserver.Config) {
		c.RunController = func(ctx context.Context, _ *rest.Config) error { <-ctx.Done(); return nil }
		c.ControllerState = func() apiserver.ControllerState { return apiserver.ControllerState{Leading: true, NotReady: "wait"} }
	})
	raw, err := s.Clients.Discovery().RESTClient().Get().AbsPath("/debug/controller/state").Do(t.Context()).Raw()
	if want := `{"leading":true,"notReady":"wait"}`; err != nil || strings.TrimSpace(string(raw)) != want {
		t.Errorf("got %q, %v, want %s", raw, err, want)
	}
}
