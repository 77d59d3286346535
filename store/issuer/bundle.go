// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package issuer

import (
	"bytes"
	"crypto"
	"crypto/ecdsa"
	"crypto/x509"
	"encoding/pem"
	"fmt"

	"k8s.io/client-go/util/cert"
	"k8s.io/client-go/util/keyutil"
)

// These are the keys of a Secret with CAs.
const (
	CertificatesKey = "ca.crt"
	keysKey         = "ca.key"
)

// FromSecret reads CAs. The keys are in any order; each belongs to the certificate with its public
// key.
func FromSecret(data map[string][]byte) ([]Authority, error) {
	parsed, err := cert.ParseCertsPEM(data[CertificatesKey])
	if err != nil {
		return nil, fmt.Errorf("reading the certificates: %w", err)
	}
	signers, err := parseKeys(data[keysKey])
	if err != nil {
		return nil, err
	}
	all := make([]Authority, 0, len(parsed))
	for _, c := range parsed {
		all = append(all, Authority{Certificate: c, Key: keyOf(c, signers)})
	}
	return all, nil
}

func parseKeys(text []byte) ([]*ecdsa.PrivateKey, error) {
	var keys []*ecdsa.PrivateKey
	for block, rest := pem.Decode(text); block != nil; block, rest = pem.Decode(rest) {
		key, err := x509.ParseECPrivateKey(block.Bytes)
		if err != nil {
			return nil, fmt.Errorf("reading key %d: %w", len(keys)+1, err)
		}
		keys = append(keys, key)
	}
	return keys, nil
}

func keyOf(certificate *x509.Certificate, keys []*ecdsa.PrivateKey) crypto.Signer {
	for _, key := range keys {
		if key.PublicKey.Equal(certificate.PublicKey) {
			return key
		}
	}
	return nil
}

// ToSecret writes what FromSecret reads.
func ToSecret(all []Authority) (map[string][]byte, error) {
	certificates, err := EncodeCertificates(all)
	if err != nil {
		return nil, err
	}
	keys, err := encodeKeys(all)
	if err != nil {
		return nil, err
	}
	return map[string][]byte{CertificatesKey: certificates, keysKey: keys}, nil
}

// EncodeCertificates encodes the certificates of CAs as PEM.
func EncodeCertificates(all []Authority) ([]byte, error) {
	var list []*x509.Certificate
	for _, a := range all {
		list = append(list, a.Certificate)
	}
	text, err := cert.EncodeCertificates(list...)
	if err != nil {
		return nil, fmt.Errorf("encoding the certificates of CAs: %w", err)
	}
	return text, nil
}

// encodeKeys encodes the keys that CAs have as PEM.
func encodeKeys(all []Authority) ([]byte, error) {
	var text bytes.Buffer
	for _, a := range all {
		if !a.Signs() {
			continue
		}
		one, err := keyutil.MarshalPrivateKeyToPEM(a.Key)
		if err != nil {
			return nil, fmt.Errorf("encoding the key of %s: %w", a.Certificate.Subject.CommonName, err)
		}
		text.Write(one)
	}
	return text.Bytes(), nil
}
