// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package autotls

import (
	"slices"
	"time"

	"statefulset.dev/store/issuer"
)

const (
	// longestSettle is how long every kube-apiserver of the host surely takes to see that an
	// authority was published.
	longestSettle = 10 * time.Minute
	// madeWithin is how much later an authority may have been made than its certificate says,
	// which tells whole seconds.
	madeWithin = time.Second
)

// schedule says for how long things are valid.
type schedule struct {
	certificate, authority time.Duration
}

// settle is how long an authority is published before it signs.
func (s schedule) settle() time.Duration { return min(longestSettle, s.authority/50) }

// decision is what follows from the authorities that there are at a time.
type decision struct {
	// trusted are those that clients have to know, the oldest first.
	trusted []issuer.Authority
	// due says that another authority has to be made.
	due bool
	// signer is the one to sign with, if it is published. It may be none.
	signer issuer.Authority
	// look is when something else follows from the same authorities.
	look time.Time
}

// decide looks at the authorities that there are, the newest last, of which at least one
// signs and is valid.
func (s schedule) decide(now time.Time, held []issuer.Authority) decision {
	trusted := slices.DeleteFunc(slices.Clone(held), func(a issuer.Authority) bool { return !a.Valid(now) })
	signers := signing(trusted)
	newest := signers[len(signers)-1]
	d := decision{trusted: trusted, signer: newest, due: !now.Before(newest.Renewal()), look: newest.Renewal()}
	if len(signers) > 1 {
		if settled := s.settled(newest); now.Before(settled) {
			d.signer, d.look = signers[len(signers)-2], earlier(d.look, settled)
		}
	}
	if len(trusted) > 1 {
		if obsolete := s.obsolete(newest); now.Before(obsolete) {
			d.look = earlier(d.look, obsolete)
		} else {
			d.trusted = []issuer.Authority{newest}
		}
	}
	return d
}

// settled is when an authority has been published for long enough to sign.
func (s schedule) settled(a issuer.Authority) time.Time {
	return a.Made().Add(madeWithin + s.settle())
}

// obsolete is when nothing is valid any more that predecessors of an authority have signed.
// They sign until it has settled, and a replica may be late by as much again.
func (s schedule) obsolete(newest issuer.Authority) time.Time {
	return s.settled(newest).Add(s.settle() + s.certificate)
}

// signing are those authorities that have a key, the newest last.
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
