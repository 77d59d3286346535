// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"os"
	"time"
)

// certLifetime outlives any cluster directory, so nothing has to be renewed.
const certLifetime = 10 * 365 * 24 * time.Hour

// keyPair is a certificate and its private key, in PEM.
type keyPair struct {
	cert []byte
	key  []byte
}

// authority signs certificates.
type authority struct {
	keyPair
	parsed *x509.Certificate
	signer *ecdsa.PrivateKey
}

// identity is the subject of a certificate. hosts are DNS names and IP addresses; a certificate
// with hosts can serve.
type identity struct {
	name   string
	groups []string
	hosts  []string
}

func newAuthority(name string) (*authority, error) {
	template, err := certTemplate(identity{name: name})
	if err != nil {
		return nil, err
	}
	template.IsCA = true
	template.KeyUsage = x509.KeyUsageCertSign | x509.KeyUsageDigitalSignature
	template.ExtKeyUsage = nil
	key, keyPEM, err := newKey()
	if err != nil {
		return nil, err
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		return nil, fmt.Errorf("creating certificate authority %q: %w", name, err)
	}
	return parseAuthority(keyPair{cert: encode("CERTIFICATE", der), key: keyPEM})
}

func loadAuthority(certFile, keyFile string) (*authority, error) {
	cert, err := os.ReadFile(certFile)
	if err != nil {
		return nil, fmt.Errorf("loading certificate authority: %w", err)
	}
	key, err := os.ReadFile(keyFile)
	if err != nil {
		return nil, fmt.Errorf("loading certificate authority: %w", err)
	}
	return parseAuthority(keyPair{cert: cert, key: key})
}

func parseAuthority(pair keyPair) (*authority, error) {
	certBlock, _ := pem.Decode(pair.cert)
	keyBlock, _ := pem.Decode(pair.key)
	if certBlock == nil || keyBlock == nil {
		return nil, fmt.Errorf("parsing certificate authority: no PEM block")
	}
	cert, err := x509.ParseCertificate(certBlock.Bytes)
	if err != nil {
		return nil, fmt.Errorf("parsing certificate authority: %w", err)
	}
	key, err := x509.ParseECPrivateKey(keyBlock.Bytes)
	if err != nil {
		return nil, fmt.Errorf("parsing the key of certificate authority %q: %w", cert.Subject.CommonName, err)
	}
	return &authority{keyPair: pair, parsed: cert, signer: key}, nil
}

// issue signs a certificate that can authenticate as a client and, when it has hosts, as a server.
func (a *authority) issue(id identity) (keyPair, error) {
	template, err := certTemplate(id)
	if err != nil {
		return keyPair{}, err
	}
	key, keyPEM, err := newKey()
	if err != nil {
		return keyPair{}, err
	}
	der, err := x509.CreateCertificate(rand.Reader, template, a.parsed, &key.PublicKey, a.signer)
	if err != nil {
		return keyPair{}, fmt.Errorf("issuing a certificate for %q: %w", id.name, err)
	}
	return keyPair{cert: encode("CERTIFICATE", der), key: keyPEM}, nil
}

func certTemplate(id identity) (*x509.Certificate, error) {
	serial, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 127))
	if err != nil {
		return nil, fmt.Errorf("choosing a serial number: %w", err)
	}
	now := time.Now()
	template := &x509.Certificate{
		SerialNumber:          serial,
		Subject:               pkix.Name{CommonName: id.name, Organization: id.groups},
		NotBefore:             now.Add(-time.Hour),
		NotAfter:              now.Add(certLifetime),
		KeyUsage:              x509.KeyUsageDigitalSignature,
		ExtKeyUsage:           []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth},
		BasicConstraintsValid: true,
	}
	for _, host := range id.hosts {
		if ip := net.ParseIP(host); ip != nil {
			template.IPAddresses = append(template.IPAddresses, ip)
		} else {
			template.DNSNames = append(template.DNSNames, host)
		}
	}
	if len(id.hosts) > 0 {
		template.ExtKeyUsage = append(template.ExtKeyUsage, x509.ExtKeyUsageServerAuth)
	}
	return template, nil
}

func newKey() (*ecdsa.PrivateKey, []byte, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, nil, fmt.Errorf("generating a key: %w", err)
	}
	der, err := x509.MarshalECPrivateKey(key)
	if err != nil {
		return nil, nil, fmt.Errorf("encoding a key: %w", err)
	}
	return key, encode("EC PRIVATE KEY", der), nil
}

func encode(blockType string, der []byte) []byte {
	return pem.EncodeToMemory(&pem.Block{Type: blockType, Bytes: der})
}

// write stores the pair as base.crt and base.key.
func (p keyPair) write(base string) error {
	if err := writeFile(base+".crt", p.cert); err != nil {
		return fmt.Errorf("writing certificate: %w", err)
	}
	if err := writeFile(base+".key", p.key); err != nil {
		return fmt.Errorf("writing key: %w", err)
	}
	return nil
}
