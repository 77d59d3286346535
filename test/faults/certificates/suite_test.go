//go:build faults

// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package certificates

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/util/cert"

	"statefulset.dev/test/harness/lab"
)

const (
	system       = "statefulset-system"
	authorities  = "statefulset-apiserver-ca"
	serverName   = "statefulset-apiserver." + system + ".svc"
	registration = "/apis/apiregistration.k8s.io/v1/apiservices/v1.apps.statefulset.dev"

	patience = time.Minute
	poll     = 50 * time.Millisecond

	// The shortest lifetimes that the server takes.
	certificateLifetime = "10s"
	authorityLifetime   = "40s"
)

// suite is the cluster, with our server taken over.
type suite struct {
	*lab.Lab
	host   kubernetes.Interface
	server lab.Program
}

func open(t *testing.T) *suite {
	l := lab.Open(t)
	host, err := kubernetes.NewForConfig(l.Config)
	if err != nil {
		t.Fatalf("creating the host client: %v", err)
	}
	s := &suite{Lab: l, host: host, server: l.TakeOver(t, lab.Server)}
	s.server.Args = s.server.Args.Without("tls-cert-file").Without("tls-private-key-file").Without("data-dir").With("tls-auto", "true").
		With("tls-auto-certificate-lifetime", certificateLifetime).With("tls-auto-authority-lifetime", authorityLifetime).
		With("etcd-servers", l.Etcd(t).URL)
	s.server.Ready = s.ready(s.server)
	err = host.CoreV1().Secrets(system).Delete(t.Context(), authorities, metav1.DeleteOptions{})
	if err != nil && !apierrors.IsNotFound(err) {
		t.Fatalf("removing the authorities of an earlier test: %v", err)
	}
	return s
}

// replica is another server at a port of its own.
func (s *suite) replica(t *testing.T, name string) lab.Program {
	program := s.WithPort(t, s.server, name)
	program.Ready = s.ready(program)
	return program
}

// ready asks a server for a check, whoever it says to be.
func (s *suite) ready(program lab.Program) func(context.Context) error {
	return func(ctx context.Context) error { return s.check(ctx, program, "/readyz") }
}

func (s *suite) check(ctx context.Context, program lab.Program, path string) error {
	config, err := s.TLS()
	if err != nil {
		return err
	}
	config.InsecureSkipVerify = true
	transport := &http.Transport{TLSClientConfig: config}
	defer transport.CloseIdleConnections()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "https://127.0.0.1:"+program.Port()+path, nil)
	if err != nil {
		return err
	}
	response, err := (&http.Client{Transport: transport, Timeout: 3 * time.Second}).Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		return err
	}
	if response.StatusCode != http.StatusOK {
		return fmt.Errorf("%s: %s: %s", path, response.Status, body)
	}
	return nil
}

// trusted are the authorities by which the host knows us.
func (s *suite) trusted(ctx context.Context) ([]*x509.Certificate, error) {
	raw, err := s.host.Discovery().RESTClient().Get().AbsPath(registration).DoRaw(ctx)
	if err != nil {
		return nil, err
	}
	var service struct {
		Spec struct{ CABundle []byte }
	}
	if err := json.Unmarshal(raw, &service); err != nil {
		return nil, err
	}
	return cert.ParseCertsPEM(service.Spec.CABundle)
}

// handshake connects to a server as the host does, and returns what it shows.
func handshake(ctx context.Context, port string, trusted []*x509.Certificate) (*x509.Certificate, error) {
	roots := x509.NewCertPool()
	for _, one := range trusted {
		roots.AddCert(one)
	}
	dialer := tls.Dialer{Config: &tls.Config{RootCAs: roots, ServerName: serverName, MinVersion: tls.VersionTLS12}}
	connection, err := dialer.DialContext(ctx, "tcp", "127.0.0.1:"+port)
	if err != nil {
		return nil, err
	}
	defer connection.Close()
	return connection.(*tls.Conn).ConnectionState().PeerCertificates[0], nil
}
