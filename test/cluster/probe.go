// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"time"
)

// probe is an HTTP health check of a component.
type probe struct {
	url string
	// caFile verifies the server, and certBase (.crt, .key) identifies the client; both are empty
	// for plain HTTP.
	caFile   string
	certBase string
	// socket is the path of a Unix socket that must accept a connection, instead of url, if not
	// empty. If both are empty, a process is healthy while it is alive.
	socket string
}

const probeTimeout = 3 * time.Second

// get returns the body of a response with status 200, or an error with the first line of the
// response.
func (p probe) get(ctx context.Context) ([]byte, error) {
	if p.url == "" {
		return nil, p.connect(ctx)
	}
	client, err := p.client()
	if err != nil {
		return nil, err
	}
	defer client.CloseIdleConnections()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, p.url, nil)
	if err != nil {
		return nil, fmt.Errorf("requesting %s: %w", p.url, err)
	}
	resp, err := client.Do(req)
	if err != nil {
		return nil, shortNetError(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		return nil, fmt.Errorf("reading %s: %w", p.url, err)
	}
	if resp.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("%s: %s", resp.Status, failedChecks(string(body)))
	}
	return body, nil
}

// connect connects to the socket, if there is one.
func (p probe) connect(ctx context.Context) error {
	if p.socket == "" {
		return nil
	}
	connection, err := (&net.Dialer{Timeout: probeTimeout}).DialContext(ctx, "unix", p.socket)
	if err != nil {
		return fmt.Errorf("connecting to %s: %w", p.socket, err)
	}
	return connection.Close()
}

func (p probe) client() (*http.Client, error) {
	transport := &http.Transport{}
	if p.caFile != "" {
		config, err := p.tlsConfig()
		if err != nil {
			return nil, err
		}
		transport.TLSClientConfig = config
	}
	return &http.Client{Transport: transport, Timeout: probeTimeout}, nil
}

func (p probe) tlsConfig() (*tls.Config, error) {
	ca, err := os.ReadFile(p.caFile)
	if err != nil {
		return nil, fmt.Errorf("reading certificate authority: %w", err)
	}
	roots := x509.NewCertPool()
	if !roots.AppendCertsFromPEM(ca) {
		return nil, fmt.Errorf("no certificate in %s", p.caFile)
	}
	pair, err := tls.LoadX509KeyPair(p.certBase+".crt", p.certBase+".key")
	if err != nil {
		return nil, fmt.Errorf("loading client certificate: %w", err)
	}
	return &tls.Config{RootCAs: roots, Certificates: []tls.Certificate{pair}}, nil
}

// shortNetError drops the method and URL that the HTTP client puts before the cause.
func shortNetError(err error) error {
	if cause := errors.Unwrap(err); cause != nil {
		return cause
	}
	return err
}

// failedChecks returns the failed checks of a verbose health report, and otherwise the first line.
func failedChecks(body string) string {
	var failed []string
	for line := range strings.Lines(body) {
		if strings.HasPrefix(line, "[-]") {
			failed = append(failed, strings.TrimSpace(line))
		}
	}
	if len(failed) > 0 {
		return strings.Join(failed, ", ")
	}
	first, _, _ := strings.Cut(body, "\n")
	return first
}
