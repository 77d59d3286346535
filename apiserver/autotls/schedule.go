// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package autotls

import (
	"slices"
	"time"

	"statefulset.dev/store/issuer"
)

const (
	// longestSettle is longer than every kube-apiserver of the host cluster takes to observe a
	// published CA.
	longestSettle = 10 * time.Minute
	// madeWithin is how much later than its certificate says a CA may have been created, because
	// certificates contain whole seconds.
	madeWithin = time.Second
)

// schedule contains the lifetimes of certificates and CAs.
type schedule struct {
	certificate, authority time.Duration
}

// settle is how long a CA is published before it signs.
func (s schedule) settle() time.Duration { return min(longestSettle, s.authority/50) }

// decision is what follows from the CAs at a time.
type decision struct {
	// trusted are the CAs that clients must know, the oldest first.
	trusted []issuer.Authority
	// due is true if another CA must be created.
	due bool
	// signer is the CA to sign with, once it is published. It may be none.
	signer issuer.Authority
	// recheckAt is when the same CAs lead to another decision.
	recheckAt time.Time
}

// decide decides about the existing CAs, the newest last. At least one of them must be able to sign
// and be valid.
func (s schedule) decide(now time.Time, held []issuer.Authority) decision {
	trusted := slices.DeleteFunc(slices.Clone(held), func(a issuer.Authority) bool { return !a.Valid(now) })
	signers := signing(trusted)
	newest := signers[len(signers)-1]
	d := decision{trusted: trusted, signer: newest, due: !now.Before(newest.Renewal()), recheckAt: newest.Renewal()}
	if len(signers) > 1 {
		if settled := s.settled(newest); now.Before(settled) {
			d.signer, d.recheckAt = signers[len(signers)-2], earlier(d.recheckAt, settled)
		}
	}
	if len(trusted) > 1 {
		if obsolete := s.obsolete(newest); now.Before(obsolete) {
			d.recheckAt = earlier(d.recheckAt, obsolete)
		} else {
			d.trusted = []issuer.Authority{newest}
		}
	}
	return d
}

// settled is when a CA has been published for long enough to sign.
func (s schedule) settled(a issuer.Authority) time.Time {
	return a.Made().Add(madeWithin + s.settle())
}

// obsolete is when everything that the predecessors of a CA have signed has expired. They sign
// until the CA has settled, and a replica may be late by the same time again.
func (s schedule) obsolete(newest issuer.Authority) time.Time {
	return s.settled(newest).Add(s.settle() + s.certificate)
}

// signing returns the CAs that have a key, the newest last.
func signing(all []issuer.Authority) []issuer.Authority {
	signers := slices.DeleteFunc(slices.Clone(all), func(a issuer.Authority) bool { return !a.Signs() })
	slices.SortStableFunc(signers, func(a, b issuer.Authority) int { return a.Made().Compare(b.Made()) })
	return signers
}

func earlier(a, b time.Time) time.Time {
	if b.Before(a) {
		return b
	}
	return a
}
