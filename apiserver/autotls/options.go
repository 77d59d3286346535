// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package autotls

import (
	"fmt"
	"time"

	"github.com/spf13/pflag"
)

const (
	defaultCertificateLifetime = 90 * 24 * time.Hour
	defaultAuthorityLifetime   = 365 * 24 * time.Hour

	// leastLifetime leaves a slow host cluster enough time between two renewals.
	leastLifetime = 10 * time.Second
	// leastAuthorities is the minimum ratio of the lifetimes of a CA and a certificate, so that two
	// CAs are always sufficient.
	leastAuthorities = 4
)

// Options configure the certificate that the server issues itself.
type Options struct {
	// Enabled is true if the server issues its certificate itself.
	Enabled bool
	// CertificateLifetime is how long a certificate is valid, and AuthorityLifetime how long a CA
	// is valid. Each is renewed after two thirds of its lifetime.
	CertificateLifetime, AuthorityLifetime time.Duration
}

// NewOptions returns the defaults.
func NewOptions() *Options {
	return &Options{CertificateLifetime: defaultCertificateLifetime, AuthorityLifetime: defaultAuthorityLifetime}
}

// AddFlags adds all flags.
func (o *Options) AddFlags(flags *pflag.FlagSet) {
	flags.BoolVar(&o.Enabled, "tls-auto", o.Enabled,
		"Issue and renew the serving certificate and the certificate authority (CA) that signs it, and publish the CA to the host cluster in the caBundle of the APIService. The CA is stored in the Secret "+secretName+" in --store-note-namespace, which must exist. Cannot be combined with --tls-cert-file.")
	flags.DurationVar(&o.CertificateLifetime, "tls-auto-certificate-lifetime", o.CertificateLifetime,
		"How long a certificate that --tls-auto issues is valid. It is renewed after two thirds of this time.")
	flags.DurationVar(&o.AuthorityLifetime, "tls-auto-authority-lifetime", o.AuthorityLifetime,
		"How long a CA that --tls-auto creates is valid, at least four times as long as a certificate. Its successor is created after two thirds of this time.")
}

// Validate returns what is wrong with the values, naming the flags.
func (o *Options) Validate() []error {
	var errs []error
	if o.CertificateLifetime < leastLifetime {
		errs = append(errs, fmt.Errorf("--tls-auto-certificate-lifetime is %s, must be at least %s", o.CertificateLifetime, leastLifetime))
	}
	if least := leastAuthorities * o.CertificateLifetime; o.AuthorityLifetime < least {
		errs = append(errs, fmt.Errorf("--tls-auto-authority-lifetime is %s, must be at least %s, four times --tls-auto-certificate-lifetime",
			o.AuthorityLifetime, least))
	}
	return errs
}
