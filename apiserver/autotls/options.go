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

	// leastLifetime leaves a host that answers slowly time enough between two renewals.
	leastLifetime = 10 * time.Second
	// leastAuthorities is how many times as long as a certificate an authority must live at
	// least, so that two authorities are enough at any time.
	leastAuthorities = 4
)

// Options say whether the server makes its certificate itself.
type Options struct {
	// Enabled is whether it does.
	Enabled bool
	// CertificateLifetime is how long a certificate is valid, and AuthorityLifetime how
	// long an authority is. Each is renewed when two thirds of it have passed.
	CertificateLifetime, AuthorityLifetime time.Duration
}

// NewOptions are the defaults.
func NewOptions() *Options {
	return &Options{CertificateLifetime: defaultCertificateLifetime, AuthorityLifetime: defaultAuthorityLifetime}
}

// AddFlags adds all flags.
func (o *Options) AddFlags(flags *pflag.FlagSet) {
	flags.BoolVar(&o.Enabled, "tls-auto", o.Enabled,
		"Make the serving certificate and the authority that signs it, renew both, and tell the host cluster of the authority by the caBundle of our APIService. The authority is kept in the Secret "+secretName+" of --store-note-namespace, which has to exist. Not together with --tls-cert-file.")
	flags.DurationVar(&o.CertificateLifetime, "tls-auto-certificate-lifetime", o.CertificateLifetime,
		"How long a certificate that --tls-auto makes is valid. It is renewed when two thirds of that have passed.")
	flags.DurationVar(&o.AuthorityLifetime, "tls-auto-authority-lifetime", o.AuthorityLifetime,
		"How long an authority that --tls-auto makes is valid, at least four times as long as a certificate. Its successor is made when two thirds of that have passed.")
}

// Validate says what is wrong with the values, naming the flags.
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
