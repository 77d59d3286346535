//go:build security

// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package security

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"net"
	"testing"
	"time"
)

// authority signs certificates.
type authority struct {
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
	pem  []byte
}

// leaf is what a certificate says. One with hosts can serve, one without only ask; only
// says otherwise.
type leaf struct {
	name   string
	groups []string
	hosts  []string
	only   []x509.ExtKeyUsage
	ends   time.Time
}

// pair is a certificate with its key, in PEM.
type pair struct{ cert, key []byte }

var (
	etcdUser    = leaf{name: "statefulset-apiserver", hosts: []string{"statefulset-apiserver"}}
	servingLeaf = leaf{
		name: "statefulset-apiserver", hosts: []string{"127.0.0.1", "localhost", "statefulset-apiserver.statefulset-system.svc"}}
)

func loadAuthority(t testing.TB, base string) authority {
	t.Helper()
	loaded, err := tls.LoadX509KeyPair(base+".crt", base+".key")
	if err != nil {
		t.Fatalf("reading an authority: %v", err)
	}
	key, ok := loaded.PrivateKey.(*ecdsa.PrivateKey)
	if !ok {
		t.Fatalf("the key of %s is a %T, want an ECDSA key", base, loaded.PrivateKey)
	}
	return authority{loaded.Leaf, key, []byte(read(t, base+".crt"))}
}

func newAuthority(t testing.TB, name string) authority {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatalf("making a key: %v", err)
	}
	template := &x509.Certificate{
		SerialNumber: serial(t), Subject: pkix.Name{CommonName: name}, NotBefore: time.Now().Add(-time.Hour),
		NotAfter: time.Now().Add(24 * time.Hour),
		IsCA:     true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign | x509.KeyUsageDigitalSignature,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		t.Fatalf("making an authority: %v", err)
	}
	parsed, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatalf("making an authority: %v", err)
	}
	return authority{parsed, key, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})}
}

func serial(t testing.TB) *big.Int {
	t.Helper()
	number, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 120))
	if err != nil {
		t.Fatalf("choosing a serial number: %v", err)
	}
	return number
}

func (a authority) issue(t testing.TB, l leaf) pair {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatalf("making a key: %v", err)
	}
	if l.ends.IsZero() {
		l.ends = time.Now().Add(12 * time.Hour)
	}
	template := &x509.Certificate{
		SerialNumber: serial(t), Subject: pkix.Name{CommonName: l.name, Organization: l.groups},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: l.ends, KeyUsage: x509.KeyUsageDigitalSignature,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth},
	}
	for _, host := range l.hosts {
		if ip := net.ParseIP(host); ip != nil {
			template.IPAddresses = append(template.IPAddresses, ip)
		} else {
			template.DNSNames = append(template.DNSNames, host)
		}
		template.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth, x509.ExtKeyUsageServerAuth}
	}
	if l.only != nil {
		template.ExtKeyUsage = l.only
	}
	der, err := x509.CreateCertificate(rand.Reader, template, a.cert, &key.PublicKey, a.key)
	if err != nil {
		t.Fatalf("issuing a certificate: %v", err)
	}
	encoded, err := x509.MarshalECPrivateKey(key)
	if err != nil {
		t.Fatalf("encoding a key: %v", err)
	}
	return pair{
		pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: encoded})}
}

// write replaces DIR/NAME.key and DIR/NAME.crt, as a Secret's volume would.
func (p pair) write(t testing.TB, dir, name string) {
	t.Helper()
	write(t, dir, name+".key", string(p.key))
	write(t, dir, name+".crt", string(p.cert))
}

func (p pair) tls(t testing.TB) tls.Certificate {
	t.Helper()
	certificate, err := tls.X509KeyPair(p.cert, p.key)
	if err != nil {
		t.Fatalf("reading a certificate: %v", err)
	}
	return certificate
}

func poolOf(authorities ...authority) *x509.CertPool {
	pool := x509.NewCertPool()
	for _, a := range authorities {
		pool.AddCert(a.cert)
	}
	return pool
}
