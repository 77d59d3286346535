// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package certificates

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	typedcorev1 "k8s.io/client-go/kubernetes/typed/core/v1"

	"statefulset.dev/store/issuer"
)

const (
	namespace = "statefulset-system"
	prefix    = "/registry/statefulset.dev"
	patience  = time.Minute
)

// put writes by a connection of its own, so that both sides show their certificates for it.
func put(ctx context.Context, config *tls.Config, key string, endpoints ...string) error {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	client, err := clientv3.New(clientv3.Config{Endpoints: endpoints, TLS: config.Clone(), Logger: zap.NewNop(), Context: ctx})
	if err != nil {
		return err
	}
	_, err = client.Put(ctx, key, key)
	return errors.Join(err, client.Close())
}

// restarts tells writers which member is away, and whether another one was since they last asked.
type restarts struct {
	away  atomic.Pointer[member]
	begun atomic.Int64
}

func (r *restarts) begin(m *member) {
	r.begun.Add(1)
	r.away.Store(m)
}

func (r *restarts) end() { r.away.Store(nil) }

// writer writes to all members, one after the other, as long as it is let.
type writer struct {
	name     string
	config   *tls.Config
	members  []*member
	restarts *restarts
	stop     context.CancelFunc
	done     sync.WaitGroup
	// repeated are writes that were sent to another member, since one was restarted meanwhile.
	written, repeated atomic.Int64
	// torn are connections that met the moment in which a member replaced its files.
	torn   atomic.Int64
	failed atomic.Pointer[string]
}

func write(t *testing.T, name string, config *tls.Config, members []*member, restarts *restarts) *writer {
	t.Helper()
	ctx, stop := context.WithCancel(context.Background())
	w := &writer{name: name, config: config, members: members, restarts: restarts, stop: stop}
	w.done.Go(func() {
		for i := 0; ctx.Err() == nil; i++ {
			to := members[i%len(members)]
			// A write that waits for a leader may outlast the restarts of several members.
			begun := restarts.begun.Load()
			away := restarts.away.Load()
			if away == to {
				continue
			}
			key := fmt.Sprintf("%s/%s/%d", prefix, name, w.written.Load())
			err := put(context.Background(), config, key, to.endpoint())
			// Etcd reads the certificate and the key one after the other. It closes a connection if the
			// file is replaced between the two, and clients connect again.
			if err != nil && strings.Contains(err.Error(), "tls: internal error") {
				w.torn.Add(1)
				err = put(context.Background(), config, key, to.endpoint())
			}
			switch restarted := away != nil || restarts.begun.Load() != begun; {
			case err == nil:
				w.written.Add(1)
			case restarted && !strings.Contains(err.Error(), "tls:"):
				w.repeated.Add(1)
			default:
				text := fmt.Sprintf("to %s: %v", to.part.Name, err)
				w.failed.CompareAndSwap(nil, &text)
			}
		}
	})
	t.Cleanup(w.end)
	return w
}

func (w *writer) end() {
	w.stop()
	w.done.Wait()
}

// more waits for so many more writes of each, and fails if one has failed.
func more(t *testing.T, when string, writers ...*writer) {
	t.Helper()
	const count = 9 // three to each member
	for _, w := range writers {
		from, deadline := w.written.Load(), time.Now().Add(patience)
		for w.written.Load() < from+count && w.failed.Load() == nil && time.Now().Before(deadline) {
			<-time.After(10 * time.Millisecond)
		}
		if failed := w.failed.Load(); failed != nil {
			t.Fatalf("%s: %s could not write after %d writes: %s", when, w.name, w.written.Load(), *failed)
		}
		if got := w.written.Load() - from; got < count {
			t.Fatalf("%s: %s has written %d times in %s, want %d", when, w.name, got, patience, count)
		}
	}
}

// store is what a test does to members while servers write.
type store struct {
	secrets  typedcorev1.SecretInterface
	members  []*member
	restarts restarts
	writers  []*writer
}

// add starts a server that writes.
func (s *store) add(t *testing.T, name string, config *tls.Config) {
	t.Helper()
	s.writers = append(s.writers, write(t, name, config, s.members, &s.restarts))
}

// roll restarts one member after the other.
func (s *store) roll(t *testing.T, start func(*member)) {
	t.Helper()
	for _, m := range s.members {
		s.restarts.begin(m)
		m.close(t)
		start(m)
		m.ready(t)
		s.restarts.end()
	}
}

// end stops the writers, and looks for what they have written.
func (s *store) end(t *testing.T) {
	t.Helper()
	for _, w := range s.writers {
		w.end()
		nothingIsLost(t, w, s.members[0])
		t.Logf("%s: %d writes, %d repeated while a member was restarted, %d with a second connection, 0 failed",
			w.name, w.written.Load(), w.repeated.Load(), w.torn.Load())
	}
}

// strangers tries to write with a certificate of an authority that must not be trusted any more.
func (s *store) strangers(t *testing.T, signer issuer.Authority, name string) {
	t.Helper()
	made, err := signer.Issue(issuer.Request{Name: name, Client: true, Lifetime: time.Hour}, time.Now())
	if err != nil {
		t.Fatal(err)
	}
	pair, err := tls.X509KeyPair(made.Certificate, made.Key)
	if err != nil {
		t.Fatal(err)
	}
	config := s.writers[len(s.writers)-1].config.Clone()
	config.GetClientCertificate = func(*tls.CertificateRequestInfo) (*tls.Certificate, error) { return &pair, nil }
	for _, m := range s.members {
		ctx, cancel := context.WithTimeout(t.Context(), 3*time.Second)
		if err := put(ctx, config, prefix+"/forged", m.endpoint()); err == nil {
			t.Errorf("%s has let %s write, whom %s has signed, want that this is not trusted",
				m.part.Name, name, signer.Certificate.Subject.CommonName)
		}
		cancel()
	}
}

func TestAnotherAuthorityTakesOverWhileServersWrite(t *testing.T) {
	for _, authority := range []Authority{Peers, Clients} {
		t.Run(string(authority), func(t *testing.T) { takeOver(t, authority) })
	}
}

func takeOver(t *testing.T, authority Authority) {
	t.Parallel()
	secrets := secretsOf(t)
	start := func(m *member) { m.start(t, secrets) }
	s := &store{secrets: secrets, members: begin(t, start)}
	// This one is never restarted.
	s.add(t, "a server of before", server(t, secrets))
	more(t, "before", s.writers...)
	before, err := source{secrets, namespace, authority}.obtain(t.Context(), trust{}, time.Now())
	if err != nil {
		t.Fatal(err)
	}

	name, err := Rotate(t.Context(), authority, secrets, namespace, time.Now())
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range s.members {
		issuedBy(t, m, map[Authority]int{Peers: m.part.PeerPort, Clients: m.part.ClientPort}[authority], name)
	}
	s.add(t, "a server that was restarted since", server(t, secrets))
	more(t, "another authority signs", s.writers...)
	s.roll(t, start)
	more(t, "all members were restarted", s.writers...)

	if _, err := Finish(t.Context(), authority, secrets, namespace, time.Now().Add(settle)); err != nil {
		t.Fatal(err)
	}
	s.add(t, "a server that came after", server(t, secrets))
	more(t, "the predecessor is gone", s.writers...)
	s.roll(t, start)
	more(t, "all members were restarted without the predecessor", s.writers...)
	s.strangers(t, before.signer(), ServerName)
	s.end(t)
}

// nothingIsLost looks for everything that was acknowledged.
func nothingIsLost(t *testing.T, w *writer, through *member) {
	t.Helper()
	client, err := clientv3.New(clientv3.Config{Endpoints: []string{through.endpoint()}, TLS: w.config.Clone(), Logger: zap.NewNop()})
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	found, err := client.Get(t.Context(), prefix+"/"+w.name+"/", clientv3.WithPrefix(), clientv3.WithCountOnly())
	if err != nil {
		t.Fatal(err)
	}
	if found.Count < w.written.Load() {
		t.Errorf("%s: got %d keys, want the %d that were acknowledged", w.name, found.Count, w.written.Load())
	}
}

func TestMistakesWithAuthoritiesAreRefused(t *testing.T) {
	now := time.Now()
	secrets := secretsOf(t)
	expect := func(what string, err error, want string) {
		t.Helper()
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got error %v, want one that says %q", what, err, want)
		}
	}
	_, err := Rotate(t.Context(), Peers, secrets, namespace, now)
	expect("without an authority", err, "the Secret statefulset-system/statefulset-apiserver-etcd-peer-ca cannot be used")
	if _, err := (source{secrets, namespace, Peers}).obtain(t.Context(), trust{}, now); err != nil {
		t.Fatal(err)
	}
	_, err = Finish(t.Context(), Peers, secrets, namespace, now)
	expect("an end without a beginning", err, "no rotation is in progress")
	first, err := Rotate(t.Context(), Peers, secrets, namespace, now)
	if err != nil {
		t.Fatal(err)
	}
	_, err = Rotate(t.Context(), Peers, secrets, namespace, now)
	expect("twice", err, first+" has signed since")
	_, err = Finish(t.Context(), Peers, secrets, namespace, now.Add(settle-time.Minute))
	expect("an end too early", err, "run this after")
	held, err := secrets.Get(t.Context(), Peers.Secret(), metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if keys := strings.Count(string(held.Data["ca.key"]), "BEGIN"); keys != 1 {
		t.Errorf("keys in the Secret: got %d, want 1: the predecessor signs nothing any more", keys)
	}
	if _, err := Finish(t.Context(), Peers, secrets, namespace, now.Add(settle)); err != nil {
		t.Fatal(err)
	}
	if _, err := secrets.Update(t.Context(), held, metav1.UpdateOptions{}); !apierrors.IsConflict(err) {
		t.Errorf("a write over what its writer has not seen: got %v, want a conflict", err)
	}
	second, err := Rotate(t.Context(), Peers, secrets, namespace, now.Add(2*settle))
	if err != nil || second == first {
		t.Errorf("once more: got %q and error %v, want another authority", second, err)
	}
}
