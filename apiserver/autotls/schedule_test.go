// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package autotls

import (
	"crypto/tls"
	"crypto/x509"
	"slices"
	"testing"
	"time"
)

// begin is when the first authority of a test is made.
func begin() time.Time { return time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC) }

func made(t *testing.T, after, lifetime time.Duration) authority {
	t.Helper()
	a, err := newAuthority(begin().Add(after), lifetime)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// trustedOnly is an authority whose key is somebody else's.
func trustedOnly(a authority) authority { return authority{certificate: a.certificate} }

func TestWhichAuthoritiesAreWanted(t *testing.T) {
	const day = 24 * time.Hour
	// An authority settles in 10 minutes, and what it signs is valid for 9 days.
	s := schedule{certificate: 9 * day, authority: 90 * day}
	first, second := made(t, 0, 90*day), made(t, 60*day, 90*day)
	foreign := trustedOnly(made(t, 0, 90*day))
	short := trustedOnly(made(t, 0, day))
	cases := map[string]struct {
		held    []authority
		after   time.Duration
		trusted []authority
		signer  authority
		due     bool
		look    time.Duration
	}{
		"one alone signs at once, until two thirds of its time have passed": {
			held: []authority{first}, trusted: []authority{first}, signer: first, look: 60 * day},
		"a successor is due then": {
			held: []authority{first}, after: 60 * day, trusted: []authority{first}, signer: first, due: true, look: 60 * day},
		"a successor does not sign before it has settled": {
			held: []authority{first, second}, after: 60 * day, trusted: []authority{first, second}, signer: first, look: 60*day + 10*time.Minute},
		"it signs when it has settled, and the first is trusted on": {
			held: []authority{first, second}, after: 60*day + 10*time.Minute, trusted: []authority{first, second}, signer: second, look: 69*day + 20*time.Minute},
		"the first goes when nothing is valid any more that it has signed": {
			held: []authority{first, second}, after: 69*day + 20*time.Minute, trusted: []authority{second}, signer: second, look: 120 * day},
		"it does not go a moment earlier": {
			held: []authority{first, second}, after: 69*day + 20*time.Minute - time.Second, trusted: []authority{first, second}, signer: second, look: 69*day + 20*time.Minute},
		"the order in which they are kept does not matter": {
			held: []authority{second, first}, after: 60 * day, trusted: []authority{second, first}, signer: first, look: 60*day + 10*time.Minute},
		"one that is only trusted does not sign, and is trusted as long as a predecessor": {
			held: []authority{foreign, first}, trusted: []authority{foreign, first}, signer: first, look: 9*day + 20*time.Minute},
		"one that is only trusted goes, too": {
			held: []authority{foreign, first}, after: 9*day + 20*time.Minute, trusted: []authority{first}, signer: first, look: 60 * day},
		"one that has expired is not trusted": {
			held: []authority{short, first}, after: 2 * day, trusted: []authority{first}, signer: first, look: 60 * day},
		"a successor signs at once if the first has expired": {
			held: []authority{made(t, 0, 60*day), second}, after: 60 * day, trusted: []authority{second}, signer: second, look: 120 * day},
	}
	for sentence, tc := range cases {
		t.Run(sentence, func(t *testing.T) {
			got := s.decide(begin().Add(tc.after), tc.held)
			if !slices.EqualFunc(got.trusted, tc.trusted, authority.is) {
				t.Errorf("trusted: got %v, want %v", names(got.trusted), names(tc.trusted))
			}
			if !got.signer.is(tc.signer) {
				t.Errorf("signer: got %v, want %v", names([]authority{got.signer}), names([]authority{tc.signer}))
			}
			if got.due != tc.due {
				t.Errorf("another is due: got %v, want %v", got.due, tc.due)
			}
			if look := got.look.Sub(begin()); look != tc.look {
				t.Errorf("next look: got after %s, want after %s", look, tc.look)
			}
		})
	}
}

func names(all []authority) []string {
	var list []string
	for _, a := range all {
		list = append(list, a.certificate.Subject.CommonName)
	}
	return list
}

func TestTheShortestAuthorityStillNeedsTwoAtMost(t *testing.T) {
	s := schedule{certificate: leastLifetime, authority: leastAuthorities * leastLifetime}
	a := made(t, 0, s.authority)
	if gone, next := s.obsolete(a), a.renewal(); !gone.Before(next) {
		t.Errorf("its predecessor goes: got %s after its successor is made, want before", gone.Sub(next))
	}
}

func TestWhatIsIssuedIsAcceptedForItsHostAlone(t *testing.T) {
	a := made(t, 0, time.Hour)
	now := begin().Add(40 * time.Minute)
	issued, err := a.issue("web.shop.svc", now, time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	pair, err := tls.X509KeyPair(issued.certificate, issued.key)
	if err != nil {
		t.Fatalf("reading what was issued: %v", err)
	}
	roots := x509.NewCertPool()
	roots.AddCert(a.certificate)
	for sentence, tc := range map[string]struct {
		host     string
		at       time.Time
		accepted bool
	}{
		"its host":                        {"web.shop.svc", now, true},
		"another host":                    {"db.shop.svc", now, false},
		"a clock that is 5 minutes late":  {"web.shop.svc", now.Add(-5 * time.Minute), true},
		"after the end of the authority":  {"web.shop.svc", begin().Add(time.Hour + time.Second), false},
		"a moment before the end of both": {"web.shop.svc", begin().Add(time.Hour), true},
	} {
		_, err := pair.Leaf.Verify(x509.VerifyOptions{Roots: roots, DNSName: tc.host, CurrentTime: tc.at})
		if (err == nil) != tc.accepted {
			t.Errorf("%s: got %v, want accepted: %v", sentence, err, tc.accepted)
		}
	}
	if want := begin().Add(time.Hour); !issued.until.Equal(want) {
		t.Errorf("it is valid until: got %s, want the end of the authority, %s", issued.until, want)
	}
}

func TestAuthoritiesAreReadAsTheyWereWritten(t *testing.T) {
	all := []authority{trustedOnly(made(t, 0, time.Hour)), made(t, time.Minute, time.Hour), made(t, 2*time.Minute, time.Hour)}
	bundle, err := encodeCertificates(all)
	if err != nil {
		t.Fatal(err)
	}
	ring, err := encodeKeys(all)
	if err != nil {
		t.Fatal(err)
	}
	read, err := parse(bundle, ring)
	if err != nil {
		t.Fatal(err)
	}
	same := func(a, b authority) bool { return a.is(b) && a.signs() == b.signs() }
	if !slices.EqualFunc(read, all, same) {
		t.Errorf("got %v, want %v, of which the first does not sign", names(read), names(all))
	}
	if got := signing(read); len(got) != 2 {
		t.Errorf("those that sign: got %v, want two", names(got))
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

func TestAuthoritiesOfTheSameSecondHaveOtherNames(t *testing.T) {
	if got := names([]authority{made(t, 0, time.Hour), made(t, 0, time.Hour)}); got[0] == got[1] {
		t.Errorf("got %q twice, want two names", got[0])
	}
}
