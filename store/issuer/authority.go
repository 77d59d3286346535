// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package issuer

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
	"net"
	"time"

	"k8s.io/client-go/util/cert"
	"k8s.io/client-go/util/keyutil"
)

// backdate is how far clocks may differ: a certificate is valid for this time before it is issued.
const backdate = 5 * time.Minute

// Authority is a certificate authority (CA), which signs certificates. A CA without a key is only
// trusted.
type Authority struct {
	Certificate *x509.Certificate
	Key         crypto.Signer
}

// New creates a CA that is valid from now on. Its name contains its purpose and its time, and a
// part that distinguishes it from another one of the same second: clients find CAs by name.
func New(purpose string, now time.Time, lifetime time.Duration) (Authority, error) {
	template, err := newTemplate("", now, now.Add(lifetime))
	if err != nil {
		return Authority{}, err
	}
	template.Subject.CommonName = fmt.Sprintf("%s@%s-%s", purpose, now.UTC().Format("20060102150405"),
		hex.EncodeToString(template.SerialNumber.FillBytes(make([]byte, 16))[13:]))
	template.IsCA, template.BasicConstraintsValid = true, true
	template.KeyUsage = x509.KeyUsageCertSign | x509.KeyUsageDigitalSignature
	key, err := newKey()
	if err != nil {
		return Authority{}, err
	}
	certificate, err := sign(template, template, key.Public(), key)
	return Authority{Certificate: certificate, Key: key}, err
}

// Made is when the CA was created.
func (a Authority) Made() time.Time { return a.Certificate.NotBefore.Add(backdate) }

// Renewal is when a successor is due.
func (a Authority) Renewal() time.Time { return renewal(a.Made(), a.Certificate.NotAfter) }

// renewal is when two thirds of a lifetime have passed.
func renewal(from, until time.Time) time.Time { return from.Add(until.Sub(from) / 3 * 2) }

// Valid reports whether the CA has not expired.
func (a Authority) Valid(now time.Time) bool { return a.Certificate.NotAfter.After(now) }

// Signs reports whether the CA has its key.
func (a Authority) Signs() bool { return a.Key != nil }

// Is reports whether both are the same.
func (a Authority) Is(other Authority) bool { return a.Certificate.Equal(other.Certificate) }

// CrossSign signs the certificate of another CA. A client that trusts this CA, and receives that
// certificate, also trusts certificates of the other CA.
func (a Authority) CrossSign(other Authority) (*x509.Certificate, error) {
	until := other.Certificate.NotAfter
	if a.Certificate.NotAfter.Before(until) {
		until = a.Certificate.NotAfter
	}
	template, err := newTemplate("", other.Certificate.NotBefore.Add(backdate), until)
	if err != nil {
		return nil, err
	}
	template.Subject, template.KeyUsage = other.Certificate.Subject, other.Certificate.KeyUsage
	template.IsCA, template.BasicConstraintsValid = true, true
	return sign(template, a.Certificate, other.Certificate.PublicKey, a.Key)
}

// Request describes the holder of a certificate.
type Request struct {
	// Name is the name of the holder.
	Name string
	// Hosts are the DNS names under which it serves, IPs its addresses. Without any, the
	// certificate is only for a client.
	Hosts []string
	IPs   []net.IP
	// Client allows it to be used as a client certificate.
	Client bool
	// Lifetime is how long the certificate is valid, at most as long as the CA.
	Lifetime time.Duration
}

// Leaf is a certificate that signs nothing, with its key.
type Leaf struct {
	Certificate, Key []byte // PEM
	Signer           Authority
	Until, Renewal   time.Time
}

// Issue issues a certificate that is valid from now on.
func (a Authority) Issue(r Request, now time.Time) (Leaf, error) {
	until := now.Add(r.Lifetime)
	if a.Certificate.NotAfter.Before(until) {
		until = a.Certificate.NotAfter
	}
	template, err := newTemplate(r.Name, now, until)
	if err != nil {
		return Leaf{}, err
	}
	template.DNSNames, template.IPAddresses = r.Hosts, r.IPs
	template.KeyUsage, template.ExtKeyUsage = x509.KeyUsageDigitalSignature, r.usages()
	key, err := newKey()
	if err != nil {
		return Leaf{}, err
	}
	certificate, err := sign(template, a.Certificate, key.Public(), a.Key)
	if err != nil {
		return Leaf{}, err
	}
	made := Leaf{Signer: a, Until: until, Renewal: renewal(now, until)}
	if made.Certificate, err = cert.EncodeCertificates(certificate); err != nil {
		return Leaf{}, fmt.Errorf("encoding a certificate for %s: %w", r.Name, err)
	}
	if made.Key, err = keyutil.MarshalPrivateKeyToPEM(key); err != nil {
		return Leaf{}, fmt.Errorf("encoding the key of a certificate for %s: %w", r.Name, err)
	}
	return made, nil
}

func (r Request) usages() (all []x509.ExtKeyUsage) {
	if len(r.Hosts)+len(r.IPs) > 0 {
		all = append(all, x509.ExtKeyUsageServerAuth)
	}
	if r.Client {
		all = append(all, x509.ExtKeyUsageClientAuth)
	}
	return all
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
		return nil, fmt.Errorf("generating a key: %w", err)
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
