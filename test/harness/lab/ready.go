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

// The range of FreePort lies below the one that the kernel gives to outgoing
// connections: one of those could hold the port when its owner restarts.
const firstPort, lastPort = 20000, 30000

// FreePort returns a port of loopback that nobody listens at. It begins its search
// at a place that depends on the process, so that suites that run at the same time
// do not meet.
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

// WithPort returns a server or a controller manager that listens at another port,
// under another name.
func (l *Lab) WithPort(t testing.TB, program Program, name string) Program {
	t.Helper()
	port := FreePort(t)
	number, _ := strconv.Atoi(port)
	program.Name, program.Args = name, program.Args.With("secure-port", port)
	program.Ready = l.readiness(l.kind(program.Exe), number)
	return program
}

// Port is where the program listens, from its --secure-port.
func (p Program) Port() string { return p.Args.Get("secure-port") }

// kind is the component that an executable is of.
func (l *Lab) kind(exe string) string {
	for name, c := range l.state.Processes {
		if c.Exe == exe {
			return name
		}
	}
	return Server
}

// readiness asks a component as administrator whether it is ready. The components of
// the host and our server trust the same administrator and have two authorities.
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
		return fmt.Errorf("asking %s: %w", url, err)
	}
	response, err := (&http.Client{Transport: transport, Timeout: 3 * time.Second}).Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return fmt.Errorf("asking %s: got %s, want 200 OK", url, response.Status)
	}
	return nil
}

// TLS is how to speak to any component of the cluster, our server included, as its
// administrator.
func (l *Lab) TLS() (*tls.Config, error) {
	roots := x509.NewCertPool()
	for _, path := range []string{l.Path("pki", "ca.crt"), l.Path("registration", "serving-ca.crt")} {
		pem, err := os.ReadFile(path)
		if err != nil {
			return nil, fmt.Errorf("reading an authority: %w", err)
		}
		if !roots.AppendCertsFromPEM(pem) {
			return nil, fmt.Errorf("reading an authority: there is no certificate in %s", path)
		}
	}
	admin, err := tls.LoadX509KeyPair(l.Path("pki", "admin.crt"), l.Path("pki", "admin.key"))
	if err != nil {
		return nil, fmt.Errorf("reading the administrator's certificate: %w", err)
	}
	return &tls.Config{RootCAs: roots, Certificates: []tls.Certificate{admin}, MinVersion: tls.VersionTLS12}, nil
}
