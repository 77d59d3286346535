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
	"os/exec"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/util/cert"
	"k8s.io/client-go/util/retry"

	"statefulset.dev/test/harness/lab"
)

const (
	system       = "statefulset-system"
	authorities  = "statefulset-apiserver-ca"
	manifest     = "../../../artifacts/base/serving-authority.yaml"
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
	s.apply(t)
	s.fill(t, nil)
	return s
}

// kubectl runs the cluster's kubectl as administrator.
func (s *suite) kubectl(t *testing.T, args ...string) {
	t.Helper()
	out, err := exec.CommandContext(context.WithoutCancel(t.Context()), s.Path("kubectl"),
		append([]string{"--kubeconfig", s.Path("kubeconfig")}, args...)...).CombinedOutput()
	if err != nil {
		t.Fatalf("kubectl %v: %v: %s", args, err, out)
	}
}

// apply creates the Secret of the authorities as an installation does, if it does not exist.
func (s *suite) apply(t *testing.T, flags ...string) {
	t.Helper()
	s.kubectl(t, append([]string{"apply", "-f", manifest}, flags...)...)
}

// fill gives the Secret other data, none with nil: the server makes an authority then.
func (s *suite) fill(t *testing.T, data map[string][]byte) {
	t.Helper()
	err := retry.RetryOnConflict(retry.DefaultBackoff, func() error {
		secret, err := s.host.CoreV1().Secrets(system).Get(t.Context(), authorities, metav1.GetOptions{})
		if err != nil {
			return err
		}
		secret.Data = data
		_, err = s.host.CoreV1().Secrets(system).Update(t.Context(), secret, metav1.UpdateOptions{})
		return err
	})
	if err != nil {
		t.Fatalf("changing the authorities: %v", err)
	}
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
