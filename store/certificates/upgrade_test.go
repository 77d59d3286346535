// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package certificates

import (
	"bytes"
	"crypto/tls"
	"testing"
	"time"

	"go.etcd.io/etcd/client/pkg/v3/transport"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"statefulset.dev/store/issuer"
)

// earlier writes the files of a process of an earlier version. The shared authority signs its certificate, and
// the process trusts no other authority.
func earlier(t *testing.T, shared issuer.Authority, request issuer.Request) transport.TLSInfo {
	t.Helper()
	f := &signing{Files: &Files{directory: t.TempDir()}, request: request, trust: trust{trusted: []issuer.Authority{shared}}}
	if err := f.issue(time.Now()); err != nil {
		t.Fatal(err)
	}
	return f.TLS()
}

// startEarlier starts a member as an earlier version does.
func (m *member) startEarlier(t *testing.T, shared issuer.Authority) {
	t.Helper()
	m.part.PeerTLS = earlier(t, shared, m.request())
	m.part.ClientTLS, m.part.Serving = m.part.PeerTLS, nil
	m.run(t)
}

// sharedIn puts the authority of an earlier version into the host.
func sharedIn(t *testing.T, s *store) issuer.Authority {
	t.Helper()
	shared, err := issuer.New("statefulset-apiserver-etcd-ca", time.Now(), authorityLifetime)
	if err != nil {
		t.Fatal(err)
	}
	data, err := issuer.ToSecret([]issuer.Authority{shared})
	if err != nil {
		t.Fatal(err)
	}
	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: sharedSecret}, Data: data}
	if _, err := s.secrets.Create(t.Context(), secret, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	return shared
}

func TestAStoreWithOneAuthorityGetsTwoWhileServersWrite(t *testing.T) {
	t.Parallel()
	s := &store{secrets: secretsOf(t)}
	shared := sharedIn(t, s)
	older := func(m *member) { m.startEarlier(t, shared) }
	newer := func(m *member) { m.start(t, s.secrets) }
	olderServer := func() *tls.Config {
		return clientOf(t, earlier(t, shared, issuer.Request{Name: ServerName, Client: true, Lifetime: DefaultLifetime}))
	}
	s.members = begin(t, older)
	s.add(t, "a server of the earlier version", olderServer())
	more(t, "before the upgrade", s.writers...)

	// One member is enough for servers of this version, whose certificate it signs.
	s.restarts.begin(s.members[0])
	s.members[0].close(t)
	newer(s.members[0])
	s.members[0].ready(t)
	s.restarts.end()
	s.add(t, "a server of this version", server(t, s.secrets))
	more(t, "one member is of this version", s.writers...)
	s.roll(t, newer)
	more(t, "all members are of this version", s.writers...)

	s.roll(t, older)
	s.add(t, "a server of the earlier version that came back", olderServer())
	more(t, "the way back", s.writers...)
	s.roll(t, newer)
	more(t, "the upgrade once more", s.writers...)

	for _, w := range []int{2, 0} {
		s.writers[w].end()
		nothingIsLost(t, s.writers[w], s.members[0])
	}
	s.writers = s.writers[1:2]
	for _, authority := range []Authority{Peers, Clients} {
		if _, err := Finish(t.Context(), authority, s.secrets, namespace, time.Now().Add(settle)); err != nil {
			t.Fatal(err)
		}
	}
	s.add(t, "a server that came after the end", server(t, s.secrets))
	s.roll(t, newer)
	more(t, "the shared authority is gone", s.writers...)
	s.strangers(t, shared, "member-0")
	s.strangers(t, shared, ServerName)
	s.end(t)
}

func TestAnEmptiedSecretIsFilledWithWhatMembersUse(t *testing.T) {
	s := &store{secrets: secretsOf(t)}
	held, err := source{s.secrets, namespace, Clients}.obtain(t.Context(), trust{}, time.Now())
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{Clients.Secret(), ServersSecret} {
		secret, err := s.secrets.Get(t.Context(), name, metav1.GetOptions{})
		if err != nil {
			t.Fatal(err)
		}
		secret.Data = nil
		if _, err := s.secrets.Update(t.Context(), secret, metav1.UpdateOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	got, err := source{s.secrets, namespace, Clients}.obtain(t.Context(), held, time.Now())
	if err != nil || !got.is(held) {
		t.Errorf("an emptied Secret: got error %v and %v, want what the member uses, %v", err, got.trusted, held.trusted)
	}
	written, err := s.secrets.Get(t.Context(), Clients.Secret(), metav1.GetOptions{})
	if err != nil || len(written.Data[issuer.CertificatesKey]) == 0 {
		t.Errorf("the Secret: got error %v and data %v, want the authority", err, written.Data)
	}
}

func TestMembersRenewTheCertificateOfServersInTime(t *testing.T) {
	s := &store{secrets: secretsOf(t)}
	now := time.Now()
	from := source{s.secrets, namespace, Clients}
	held, err := from.obtain(t.Context(), trust{}, now)
	if err != nil {
		t.Fatal(err)
	}
	shown := func(at time.Duration) []byte {
		t.Helper()
		if err := from.keepServers(t.Context(), held, now.Add(at)); err != nil {
			t.Fatal(err)
		}
		secret, err := s.secrets.Get(t.Context(), ServersSecret, metav1.GetOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if len(secret.Data[issuer.CertificatesKey]) == 0 || bytes.Contains(secret.Data[issuer.CertificatesKey], []byte("KEY")) {
			t.Errorf("authorities: got %q, want certificates without keys", secret.Data[issuer.CertificatesKey])
		}
		return secret.Data[corev1.TLSCertKey]
	}
	first := shown(0)
	if next := shown(DefaultLifetime/2 - time.Hour); !bytes.Equal(next, first) {
		t.Error("in the first half of its life: got another certificate, want the first one")
	}
	if next := shown(DefaultLifetime - time.Hour); bytes.Equal(next, first) {
		t.Error("shortly before its end: got the first certificate, want another one")
	}
}
