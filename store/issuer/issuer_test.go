// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package issuer

import (
	"crypto/tls"
	"crypto/x509"
	"slices"
	"testing"
	"time"
)

// begin is when the first authority of a test is made.
func begin() time.Time { return time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC) }

// made is an authority that lives for an hour.
func made(t *testing.T, after time.Duration) Authority {
	t.Helper()
	a, err := New("test", begin().Add(after), time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func names(all []Authority) (list []string) {
	for _, a := range all {
		list = append(list, a.Certificate.Subject.CommonName)
	}
	return list
}

func TestWhatIsIssuedIsAcceptedForItsHostAlone(t *testing.T) {
	a := made(t, 0)
	now := begin().Add(40 * time.Minute)
	issued, err := a.Issue(Request{Name: "web.shop.svc", Hosts: []string{"web.shop.svc"}, Lifetime: time.Hour}, now)
	if err != nil {
		t.Fatal(err)
	}
	pair, err := tls.X509KeyPair(issued.Certificate, issued.Key)
	if err != nil {
		t.Fatalf("reading what was issued: %v", err)
	}
	roots := x509.NewCertPool()
	roots.AddCert(a.Certificate)
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
	if want := begin().Add(time.Hour); !issued.Until.Equal(want) {
		t.Errorf("it is valid until: got %s, want the end of the authority, %s", issued.Until, want)
	}
}

func TestAuthoritiesAreReadAsTheyWereWritten(t *testing.T) {
	all := []Authority{{Certificate: made(t, 0).Certificate}, made(t, time.Minute), made(t, 2*time.Minute)}
	written, err := ToSecret(all)
	if err != nil {
		t.Fatal(err)
	}
	read, err := FromSecret(written)
	if err != nil {
		t.Fatal(err)
	}
	same := func(a, b Authority) bool { return a.Is(b) && a.Signs() == b.Signs() }
	if !slices.EqualFunc(read, all, same) {
		t.Errorf("got %v, want %v, of which the first does not sign", names(read), names(all))
	}
}

func TestAuthoritiesOfTheSameSecondHaveOtherNames(t *testing.T) {
	if got := names([]Authority{made(t, 0), made(t, 0)}); got[0] == got[1] {
		t.Errorf("got %q twice, want two names", got[0])
	}
}
