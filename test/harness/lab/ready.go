// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package lab

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"net"
	"net/http"
	"os"
	"strconv"
	"testing"
	"time"
)

// The range of FreePort is below the range that the kernel uses for outgoing connections: one of
// those could occupy the port when its owner restarts.
const firstPort, lastPort = 20000, 30000

// FreePort returns a loopback port without a listener. Its search begins at a port that depends on
// the process, so that suites that run at the same time do not conflict.
func FreePort(t testing.TB) string {
	t.Helper()
	const span = lastPort - firstPort
	begin := os.Getpid()*97 + int(time.Now().UnixNano()/1e3)
	for i := range span {
		port := strconv.Itoa(firstPort + (begin+i)%span)
		listener, err := (&net.ListenConfig{}).Listen(context.Background(), "tcp", "127.0.0.1:"+port)
		if err != nil {
			continue
		}
		if err := listener.Close(); err != nil {
			t.Fatalf("closing port %s: %v", port, err)
		}
		return port
	}
	t.Fatalf("no port of 127.0.0.1 is free between %d and %d", firstPort, lastPort)
	return ""
}

// WithPort returns a server or a controller manager with another port and another name.
func (l *Lab) WithPort(t testing.TB, program Program, name string) Program {
	t.Helper()
	port := FreePort(t)
	number, _ := strconv.Atoi(port)
	program.Name, program.Args = name, program.Args.With("secure-port", port)
	program.Ready = l.readiness(l.kind(program.Exe), number)
	return program
}

// Port returns the port of the program, from its --secure-port.
func (p Program) Port() string { return p.Args.Get("secure-port") }

// kind returns the component to which an executable belongs.
func (l *Lab) kind(exe string) string {
	for name, c := range l.state.Processes {
		if c.Exe == exe {
			return name
		}
	}
	return Server
}

// readiness returns a function that asks a component, as administrator, whether it is ready. The
// components of the host cluster and our server trust the same administrator, but have different
// CAs.
func (l *Lab) readiness(name string, port int) func(context.Context) error {
	path := "/readyz"
	switch name {
	case ControllerManager:
		path = "/healthz"
	case HostEtcd:
		path = "/health"
	}
	return func(ctx context.Context) error {
		return l.get(ctx, "https://127.0.0.1:"+strconv.Itoa(port)+path)
	}
}

func (l *Lab) get(ctx context.Context, url string) error {
	config, err := l.TLS()
	if err != nil {
		return err
	}
	transport := &http.Transport{TLSClientConfig: config}
	defer transport.CloseIdleConnections()
	return getWith(ctx, transport, url)
}

func getWith(ctx context.Context, transport http.RoundTripper, url string) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return fmt.Errorf("requesting %s: %w", url, err)
	}
	response, err := (&http.Client{Transport: transport, Timeout: 3 * time.Second}).Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return fmt.Errorf("requesting %s: got %s, want 200 OK", url, response.Status)
	}
	return nil
}

// TLS returns the configuration with which an administrator connects to any component of the
// cluster, including our server.
func (l *Lab) TLS() (*tls.Config, error) {
	roots := x509.NewCertPool()
	for _, path := range []string{l.Path("pki", "ca.crt"), l.Path("registration", "serving-ca.crt")} {
		pem, err := os.ReadFile(path)
		if err != nil {
			return nil, fmt.Errorf("reading a CA: %w", err)
		}
		if !roots.AppendCertsFromPEM(pem) {
			return nil, fmt.Errorf("reading a CA: no certificate in %s", path)
		}
	}
	admin, err := tls.LoadX509KeyPair(l.Path("pki", "admin.crt"), l.Path("pki", "admin.key"))
	if err != nil {
		return nil, fmt.Errorf("reading the administrator's certificate: %w", err)
	}
	return &tls.Config{RootCAs: roots, Certificates: []tls.Certificate{admin}, MinVersion: tls.VersionTLS12}, nil
}
