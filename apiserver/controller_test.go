// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package apiserver

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"

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
		_, err = clients.AppsV1().StatefulSets(namespace).List(context.WithoutCancel(ctx), metav1.ListOptions{})
		stopped <- err
		return nil
	}
	t.Run("a server with a controller", func(t *testing.T) {
		s := startServer(t, func(c *Config) { c.RunController = controller })
		s.create(t, web("web"))
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
	s := startServer(t, func(c *Config) {
		c.RunController = func(context.Context, *rest.Config) error {
			<-end
			return errors.New("no more")
		}
	})
	close(end)
	for _, path := range []string{"/readyz/controller", "/livez/controller"} {
		s.eventually(t, path+" names the reason", func(ctx context.Context) error {
			var code int
			raw, err := s.clients.Discovery().RESTClient().Get().AbsPath(path).Do(ctx).StatusCode(&code).Raw()
			if code != http.StatusInternalServerError || !strings.Contains(string(raw), "ended by itself") {
				return fmt.Errorf("got %d, %q, want 500 and the reason: %w", code, raw, err)
			}
			return nil
		})
	}
}

func TestAControllerThatIsNotReadySaysSo(t *testing.T) {
	var filled atomic.Bool
	filled.Store(true) // or the server would never be ready
	s := startServer(t, func(c *Config) {
		c.RunController = func(ctx context.Context, _ *rest.Config) error { <-ctx.Done(); return nil }
		c.ControllerReady = func() error {
			if filled.Load() {
				return nil
			}
			return errors.New("its caches are empty")
		}
	})
	filled.Store(false)
	for path, want := range map[string]int{"/readyz/controller": http.StatusInternalServerError, "/livez/controller": http.StatusOK} {
		var code int
		s.clients.Discovery().RESTClient().Get().AbsPath(path).Do(t.Context()).StatusCode(&code)
		if code != want {
			t.Errorf("%s: got %d, want %d", path, code, want)
		}
	}
}

func TestTheStateOfTheControllerCanBeAskedFor(t *testing.T) {
	s := startServer(t, func(c *Config) {
		c.RunController = func(ctx context.Context, _ *rest.Config) error { <-ctx.Done(); return nil }
		c.ControllerState = func() ControllerState { return ControllerState{Leading: true, NotReady: "wait"} }
	})
	raw, err := s.clients.Discovery().RESTClient().Get().AbsPath("/debug/controller/state").Do(t.Context()).Raw()
	if want := `{"leading":true,"notReady":"wait"}`; err != nil || strings.TrimSpace(string(raw)) != want {
		t.Errorf("got %q, %v, want %s", raw, err, want)
	}
}

func TestAnUnreachableHostMakesTheServerUnready(t *testing.T) {
	lost := make(chan struct{})
	s := startServer(t, func(c *Config) {
		c.HostReady = func(context.Context) error {
			select {
			case <-lost:
				return errors.New("the host is lost")
			default:
				return nil
			}
		}
	})
	close(lost)
	var code int
	s.clients.Discovery().RESTClient().Get().AbsPath("/readyz/host").Do(t.Context()).StatusCode(&code)
	if code != http.StatusInternalServerError {
		t.Errorf("/readyz/host: got %d, want 500", code)
	}
	if err := s.clients.Discovery().RESTClient().Get().AbsPath("/livez").Do(t.Context()).Error(); err != nil {
		t.Errorf("/livez: got %v, want no error", err)
	}
	s.create(t, web("web"))
}
