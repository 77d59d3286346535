// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package servertest

import (
	"context"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/apiserver/pkg/authentication/request/anonymous"
	"k8s.io/apiserver/pkg/authorization/authorizerfactory"
	"k8s.io/client-go/rest"

	"statefulset.dev/apiserver"
	"statefulset.dev/client/clientset/versioned"
	typed "statefulset.dev/client/clientset/versioned/typed/apps/v1"
	"statefulset.dev/store/embedded"
)

// Patience limits every wait of a test. It does not decide the result: what a test waits for
// happens, or the test fails.
const Patience = 60 * time.Second

// Server is a whole server in this process, with real serving and with real storage in an embedded
// etcd. Only the host cluster, and therefore authorization, is missing.
type Server struct {
	Loopback *rest.Config
	Clients  versioned.Interface
	etcd     *embedded.Etcd
}

// Sets returns a client for the sets of Namespace, directly at the server.
func (s *Server) Sets() typed.StatefulSetInterface {
	return s.Clients.AppsV1().StatefulSets(Namespace)
}

// Start starts a server that stops at the end of the test.
func Start(t *testing.T, configure ...func(*apiserver.Config)) *Server {
	t.Helper()
	return StartWith(t, func(*apiserver.Options) {}, configure...)
}

// StartWith is Start with changed options.
func StartWith(t testing.TB, choose func(*apiserver.Options), configure ...func(*apiserver.Config)) *Server {
	t.Helper()
	s := StartUnready(t, choose, configure...)
	s.Eventually(t, "the server is ready", func(ctx context.Context) error {
		return s.Clients.Discovery().RESTClient().Get().AbsPath("/readyz").Do(ctx).Error()
	})
	return s
}

// StartUnready is StartWith for a server that may never become ready.
func StartUnready(t testing.TB, choose func(*apiserver.Options), configure ...func(*apiserver.Config)) *Server {
	t.Helper()
	etcd, err := embedded.Start(t.Context(), t.TempDir())
	if err != nil {
		t.Fatalf("starting etcd: %v", err)
	}
	t.Cleanup(func() {
		if err := etcd.Close(); err != nil {
			t.Errorf("stopping etcd: %v", err)
		}
	})

	config := newConfig(t, etcd, choose)
	for _, f := range configure {
		f(config)
	}
	server, err := config.Complete().New()
	if err != nil {
		t.Fatalf("building the server: %v", err)
	}
	runUntilCleanup(t, server)

	loopback := config.Generic.LoopbackClientConfig
	clients, err := versioned.NewForConfig(loopback)
	if err != nil {
		t.Fatalf("creating a client: %v", err)
	}
	return &Server{loopback, clients, etcd}
}

func newConfig(t testing.TB, etcd *embedded.Etcd, choose func(*apiserver.Options)) *apiserver.Config {
	t.Helper()
	options, err := apiserver.NewOptions()
	if err != nil {
		t.Fatalf("creating options: %v", err)
	}
	options.Serving.BindAddress = []byte{127, 0, 0, 1}
	options.Serving.Listener = listenOnLoopback(t)
	options.Storage.Etcd.StorageConfig.Transport.ServerList = []string{etcd.Endpoint()}

	choose(options)
	if err := options.Complete(); err != nil {
		t.Fatalf("completing options: %v", err)
	}

	config := apiserver.NewConfig()
	if err := options.ApplyServing(config); err != nil {
		t.Fatalf("preparing to serve: %v", err)
	}
	if err := config.ApplyStorage(options.Storage); err != nil {
		t.Fatalf("preparing storage: %v", err)
	}
	config.Generic.Authentication.Authenticator = anonymous.NewAuthenticator(nil)
	config.Generic.Authorization.Authorizer = authorizerfactory.NewAlwaysAllowAuthorizer()
	return config
}

func runUntilCleanup(t testing.TB, server *apiserver.Server) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- server.Run(ctx) }()
	t.Cleanup(func() {
		cancel()
		select {
		case err := <-done:
			if err != nil {
				t.Errorf("running the server: %v", err)
			}
		case <-time.After(Patience):
			t.Errorf("the server did not stop within %s", Patience)
		}
	})
}

// Eventually waits until try returns no error.
func (s *Server) Eventually(t testing.TB, what string, try func(context.Context) error) {
	t.Helper()
	var last error
	err := wait.PollUntilContextTimeout(t.Context(), 20*time.Millisecond, Patience, true, func(ctx context.Context) (bool, error) {
		last = try(ctx)
		return last == nil, nil
	})
	if err != nil {
		t.Fatalf("waiting until %s: %v; last error: %v", what, err, last)
	}
}
