// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package autotls

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/hex"
	"fmt"
	"math/big"
	"time"

	"k8s.io/client-go/util/cert"
	"k8s.io/client-go/util/keyutil"
)

// backdate is how far clocks may be apart: by it a certificate is valid before it is made.
const backdate = 5 * time.Minute

// authority signs certificates. One without a key is only trusted.
type authority struct {
	certificate *x509.Certificate
	key         crypto.Signer
}

// newAuthority makes one that is valid from now on. Its name tells when it was made, and
// tells it from another one of the same second: clients look for authorities by name.
func newAuthority(now time.Time, lifetime time.Duration) (authority, error) {
	template, err := newTemplate("", now, now.Add(lifetime))
	if err != nil {
		return authority{}, err
	}
	template.Subject.CommonName = fmt.Sprintf("statefulset-apiserver-ca@%s-%s", now.UTC().Format("20060102150405"), hex.EncodeToString(template.SerialNumber.FillBytes(make([]byte, 16))[13:]))
	template.IsCA, template.BasicConstraintsValid = true, true
	template.KeyUsage = x509.KeyUsageCertSign | x509.KeyUsageDigitalSignature
	key, err := newKey()
	if err != nil {
		return authority{}, err
	}
	certificate, err := sign(template, template, key.Public(), key)
	return authority{certificate: certificate, key: key}, err
}

// made is when the authority was made.
func (a authority) made() time.Time { return a.certificate.NotBefore.Add(backdate) }

// renewal is when a successor is due.
func (a authority) renewal() time.Time { return renewal(a.made(), a.certificate.NotAfter) }

// renewal is when two thirds of a lifetime have passed.
func renewal(from, until time.Time) time.Time { return from.Add(until.Sub(from) / 3 * 2) }

func (a authority) valid(now time.Time) bool { return a.certificate.NotAfter.After(now) }
func (a authority) signs() bool              { return a.key != nil }
func (a authority) is(other authority) bool  { return a.certificate.Equal(other.certificate) }

// leaf is a certificate that is served, with its key.
type leaf struct {
	certificate, key []byte // PEM
	host             string
	signer           authority
	until, renewal   time.Time
}

// issue makes a certificate for a host, which no longer than the authority is valid.
func (a authority) issue(host string, now time.Time, lifetime time.Duration) (leaf, error) {
	until := now.Add(lifetime)
	if a.certificate.NotAfter.Before(until) {
		until = a.certificate.NotAfter
	}
	template, err := newTemplate(host, now, until)
	if err != nil {
		return leaf{}, err
	}
	template.DNSNames = []string{host}
	template.KeyUsage = x509.KeyUsageDigitalSignature
	template.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}
	key, err := newKey()
	if err != nil {
		return leaf{}, err
	}
	certificate, err := sign(template, a.certificate, key.Public(), a.key)
	if err != nil {
		return leaf{}, err
	}
	made := leaf{host: host, signer: a, until: until, renewal: renewal(now, until)}
	if made.certificate, err = cert.EncodeCertificates(certificate); err != nil {
		return leaf{}, fmt.Errorf("encoding a certificate for %s: %w", host, err)
	}
	if made.key, err = keyutil.MarshalPrivateKeyToPEM(key); err != nil {
		return leaf{}, fmt.Errorf("encoding the key of a certificate for %s: %w", host, err)
	}
	return made, nil
}

func newTemplate(name string, now, until time.Time) (*x509.Certificate, error) {
	serial, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 127))
	if err != nil {
		return nil, fmt.Errorf("choosing a serial number: %w", err)
	}
	return &x509.Certificate{
		SerialNumber: serial,
		Subject:      pkix.Name{CommonName: name},
		NotBefore:    now.Add(-backdate),
		NotAfter:     until,
	}, nil
}

func newKey() (*ecdsa.PrivateKey, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, fmt.Errorf("making a key: %w", err)
	}
	return key, nil
}

func sign(template, parent *x509.Certificate, public crypto.PublicKey, key crypto.Signer) (*x509.Certificate, error) {
	der, err := x509.CreateCertificate(rand.Reader, template, parent, public, key)
	if err != nil {
		return nil, fmt.Errorf("signing a certificate for %s: %w", template.Subject.CommonName, err)
	}
	return x509.ParseCertificate(der)
}
