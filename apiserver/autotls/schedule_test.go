// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package autotls

import (
	"slices"
	"testing"
	"time"

	"statefulset.dev/store/issuer"
)

// begin is when the first authority of a test is made.
func begin() time.Time { return time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC) }

func made(t *testing.T, after, lifetime time.Duration) issuer.Authority {
	t.Helper()
	a, err := issuer.New("test", begin().Add(after), lifetime)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// trustedOnly is an authority whose key is somebody else's.
func trustedOnly(a issuer.Authority) issuer.Authority {
	return issuer.Authority{Certificate: a.Certificate}
}

func TestWhichAuthoritiesAreWanted(t *testing.T) {
	const day, settled, obsolete = 24 * time.Hour, 10*time.Minute + time.Second, 20*time.Minute + time.Second
	// An authority settles in 10 minutes, and what it signs is valid for 9 days. Its certificate may
	// say a second too early when it was made.
	s := schedule{certificate: 9 * day, authority: 90 * day}
	first, second := made(t, 0, 90*day), made(t, 60*day, 90*day)
	late := made(t, 60*day+900*time.Millisecond, 90*day)
	foreign := trustedOnly(made(t, 0, 90*day))
	short := trustedOnly(made(t, 0, day))
	cases := map[string]struct {
		held    []issuer.Authority
		after   time.Duration
		trusted []issuer.Authority
		signer  issuer.Authority
		due     bool
		look    time.Duration
	}{
		"one alone signs at once, until two thirds of its time have passed": {
			held: []issuer.Authority{first}, trusted: []issuer.Authority{first}, signer: first, look: 60 * day},
		"a successor is due then": {
			held: []issuer.Authority{first}, after: 60 * day, trusted: []issuer.Authority{first}, signer: first, due: true, look: 60 * day},
		"a successor does not sign before it has settled": {
			held: []issuer.Authority{first, second}, after: 60 * day, trusted: []issuer.Authority{first, second}, signer: first,
			look: 60*day + settled},
		"one that was made late in a second does not sign a moment earlier": {
			held: []issuer.Authority{first, late}, after: 60*day + settled - 200*time.Millisecond,
			trusted: []issuer.Authority{first, late}, signer: first, look: 60*day + settled},
		"it signs when it has settled, and the first is trusted on": {
			held: []issuer.Authority{first, second}, after: 60*day + settled, trusted: []issuer.Authority{first, second}, signer: second,
			look: 69*day + obsolete},
		"the first goes when nothing is valid any more that it has signed": {
			held: []issuer.Authority{first, second}, after: 69*day + obsolete, trusted: []issuer.Authority{second}, signer: second, look: 120 * day},
		"it does not go a moment earlier": {
			held: []issuer.Authority{first, second}, after: 69*day + obsolete - time.Second, trusted: []issuer.Authority{first, second},
			signer: second, look: 69*day + obsolete},
		"the order in which they are kept does not matter": {
			held: []issuer.Authority{second, first}, after: 60 * day, trusted: []issuer.Authority{second, first}, signer: first,
			look: 60*day + settled},
		"one that is only trusted does not sign, and is trusted as long as a predecessor": {
			held: []issuer.Authority{foreign, first}, trusted: []issuer.Authority{foreign, first}, signer: first, look: 9*day + obsolete},
		"one that is only trusted goes, too": {
			held: []issuer.Authority{foreign, first}, after: 9*day + obsolete, trusted: []issuer.Authority{first}, signer: first, look: 60 * day},
		"one that has expired is not trusted": {
			held: []issuer.Authority{short, first}, after: 2 * day, trusted: []issuer.Authority{first}, signer: first, look: 60 * day},
		"a successor signs at once if the first has expired": {
			held: []issuer.Authority{made(t, 0, 60*day), second}, after: 60 * day, trusted: []issuer.Authority{second}, signer: second,
			look: 120 * day},
	}
	for sentence, tc := range cases {
		t.Run(sentence, func(t *testing.T) {
			got := s.decide(begin().Add(tc.after), tc.held)
			if !slices.EqualFunc(got.trusted, tc.trusted, issuer.Authority.Is) {
				t.Errorf("trusted: got %v, want %v", names(got.trusted), names(tc.trusted))
			}
			if !got.signer.Is(tc.signer) {
				t.Errorf("signer: got %v, want %v", names([]issuer.Authority{got.signer}), names([]issuer.Authority{tc.signer}))
			}
			if got.due != tc.due {
				t.Errorf("another is due: got %v, want %v", got.due, tc.due)
			}
			if look := got.recheckAt.Sub(begin()); look != tc.look {
				t.Errorf("next look: got after %s, want after %s", look, tc.look)
			}
		})
	}
}

func names(all []issuer.Authority) []string {
	var list []string
	for _, a := range all {
		list = append(list, a.Certificate.Subject.CommonName)
	}
	return list
}

func TestTheShortestAuthorityStillNeedsTwoAtMost(t *testing.T) {
	s := schedule{certificate: leastLifetime, authority: leastAuthorities * leastLifetime}
	a := made(t, 0, s.authority)
	if gone, next := s.obsolete(a), a.Renewal(); !gone.Before(next) {
		t.Errorf("its predecessor goes: got %s after its successor is made, want before", gone.Sub(next))
	}
}

func TestOptionsThatCannotWork(t *testing.T) {
	for sentence, tc := range map[string]struct {
		certificate, authority time.Duration
		errors                 int
	}{
		"the defaults":                          {defaultCertificateLifetime, defaultAuthorityLifetime, 0},
		"the shortest":                          {10 * time.Second, 40 * time.Second, 0},
		"a certificate of no time":              {0, time.Hour, 1},
		"an authority that hardly lives longer": {time.Hour, 2 * time.Hour, 1},
	} {
		o := &Options{CertificateLifetime: tc.certificate, AuthorityLifetime: tc.authority}
		if got := o.Validate(); len(got) != tc.errors {
			t.Errorf("%s: got %v, want %d errors", sentence, got, tc.errors)
		}
	}
}
