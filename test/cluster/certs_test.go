// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"crypto/tls"
	"crypto/x509"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

func TestCertificatesChainToTheirAuthority(t *testing.T) {
	dir := t.TempDir()
	s := testSupervisor(t, dir)
	if err := ensurePKI(dir, loopback); err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(s.path(registrationDir), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := s.ensureAggregatedCerts(); err != nil {
		t.Fatal(err)
	}
	const service = "statefulset-apiserver.statefulset-system.svc"
	cases := map[string]struct {
		cert, ca string
		host     string
		usage    x509.ExtKeyUsage
		want     bool
	}{
		"kube-apiserver serves localhost":    {s.pki(servingCert), s.pki(clusterCA), "localhost", x509.ExtKeyUsageServerAuth, true},
		"kube-apiserver serves the loopback": {s.pki(servingCert), s.pki(clusterCA), "127.0.0.1", x509.ExtKeyUsageServerAuth, true},
		"kube-apiserver serves its in-cluster name": {
			s.pki(servingCert), s.pki(clusterCA), "kubernetes.default.svc", x509.ExtKeyUsageServerAuth, true},
		"kube-apiserver serves no other name":   {s.pki(servingCert), s.pki(clusterCA), "example.org", x509.ExtKeyUsageServerAuth, false},
		"etcd trusts kube-apiserver":            {s.pki(etcdClient), s.pki(etcdCA), "", x509.ExtKeyUsageClientAuth, true},
		"etcd does not trust the administrator": {s.pki(adminClient), s.pki(etcdCA), "", x509.ExtKeyUsageClientAuth, false},
		"the administrator is a client":         {s.pki(adminClient), s.pki(clusterCA), "", x509.ExtKeyUsageClientAuth, true},
		"a client certificate does not serve":   {s.pki(adminClient), s.pki(clusterCA), "", x509.ExtKeyUsageServerAuth, false},
		"the front proxy has its own authority": {s.pki(frontProxyClient), s.pki(clusterCA), "", x509.ExtKeyUsageClientAuth, false},
		"our server serves its service name": {
			s.registration(aggregatedServing), s.registration(aggregatedCA), service, x509.ExtKeyUsageServerAuth, true},
		"our server serves localhost": {
			s.registration(aggregatedServing), s.registration(aggregatedCA), "localhost", x509.ExtKeyUsageServerAuth, true},
		"our server is a client of the cluster": {s.registration(aggregatedClient), s.pki(clusterCA), "", x509.ExtKeyUsageClientAuth, true},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			roots := x509.NewCertPool()
			roots.AddCert(readCert(t, tc.ca))
			_, err := readCert(t, tc.cert).Verify(x509.VerifyOptions{Roots: roots, DNSName: tc.host, KeyUsages: []x509.ExtKeyUsage{tc.usage}})
			if got := err == nil; got != tc.want {
				t.Errorf("verifying %s against %s: got accepted %v (%v), want %v", tc.cert, tc.ca, got, err, tc.want)
			}
		})
	}
}

func TestServerRunsAsItsServiceAccount(t *testing.T) {
	ca, err := newAuthority("test")
	if err != nil {
		t.Fatal(err)
	}
	pair, err := ca.issue(aggregatedIdentity())
	if err != nil {
		t.Fatal(err)
	}
	base := filepath.Join(t.TempDir(), "client")
	if err := pair.write(base); err != nil {
		t.Fatal(err)
	}
	subject := readCert(t, base).Subject
	if want := "system:serviceaccount:statefulset-system:statefulset-apiserver"; subject.CommonName != want {
		t.Errorf("common name: got %q, want %q", subject.CommonName, want)
	}
	for _, group := range []string{"system:serviceaccounts", "system:serviceaccounts:statefulset-system"} {
		if !slices.Contains(subject.Organization, group) {
			t.Errorf("groups: got %q, want %q among them", subject.Organization, group)
		}
	}
}

func TestExistingCertificatesAreKept(t *testing.T) {
	dir := t.TempDir()
	if err := ensurePKI(dir, loopback); err != nil {
		t.Fatal(err)
	}
	base := filepath.Join(dir, "pki", clusterCA)
	before := readCert(t, base).SerialNumber
	if err := ensurePKI(dir, loopback); err != nil {
		t.Fatal(err)
	}
	if after := readCert(t, base).SerialNumber; after.Cmp(before) != 0 {
		t.Errorf("serial of the authority after a second run: got %v, want %v", after, before)
	}
}

func readCert(t *testing.T, base string) *x509.Certificate {
	t.Helper()
	pair, err := tls.LoadX509KeyPair(base+".crt", base+".key")
	if err != nil {
		t.Fatal(err)
	}
	return pair.Leaf
}
