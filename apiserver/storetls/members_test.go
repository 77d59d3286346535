// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package storetls

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"path/filepath"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes/fake"
	typedcorev1 "k8s.io/client-go/kubernetes/typed/core/v1"
	clienttesting "k8s.io/client-go/testing"

	"statefulset.dev/apiserver/embeddedetcd"
	"statefulset.dev/apiserver/issuer"
)

// secretsOf is a host in memory that refuses a write over what its writer has not seen.
func secretsOf(t *testing.T) typedcorev1.SecretInterface {
	t.Helper()
	host := fake.NewClientset()
	version := 0
	host.PrependReactor("update", "secrets", func(action clienttesting.Action) (bool, runtime.Object, error) {
		next := action.(clienttesting.UpdateAction).GetObject().(*corev1.Secret)
		if next.ResourceVersion != "" && next.ResourceVersion != fmt.Sprint(version) {
			return true, nil, apierrors.NewConflict(corev1.Resource("secrets"), next.Name, errors.New("it has changed"))
		}
		version++
		next.ResourceVersion = fmt.Sprint(version)
		return false, nil, nil
	})
	return host.CoreV1().Secrets(namespace)
}

// party is a process that belongs to the store.
type party struct {
	files *Files
	stop  context.CancelFunc
	done  sync.WaitGroup
}

// join starts a process. It looks after its certificate until the test ends.
func join(t *testing.T, dir string, request issuer.Request, secrets typedcorev1.SecretInterface) *party {
	t.Helper()
	files, err := Make(t.Context(), dir, request, secrets, namespace)
	if err != nil {
		t.Fatal(err)
	}
	files.interval = 20 * time.Millisecond
	p := &party{files: files}
	ctx, stop := context.WithCancel(context.Background())
	p.stop = stop
	p.done.Go(func() { files.Run(ctx) })
	t.Cleanup(p.end)
	return p
}

func (p *party) end() {
	p.stop()
	p.done.Wait()
}

// server joins a process that writes to the store. Its configuration is made once, as servers do: so
// whom it trusts is what it has read at its start.
func server(t *testing.T, secrets typedcorev1.SecretInterface) *tls.Config {
	t.Helper()
	p := join(t, t.TempDir(), issuer.Request{Name: "server", Client: true, Lifetime: DefaultLifetime}, secrets)
	config, err := p.files.TLS().ClientConfig()
	if err != nil {
		t.Fatal(err)
	}
	return config
}

// member is one of three.
type member struct {
	*party
	data string
	part *embeddedetcd.Part
	etcd *embeddedetcd.Etcd
}

func (m *member) endpoint() string { at := m.part.ClientURL(); return at.String() }

// start starts the process of a member, on its disk. Its certificates are in memory, so they are new.
func (m *member) start(t *testing.T, secrets typedcorev1.SecretInterface) {
	t.Helper()
	m.party = join(t, t.TempDir(), issuer.Request{Name: m.part.Name, IPs: []net.IP{net.IPv4(127, 0, 0, 1)}, Client: true, Lifetime: DefaultLifetime}, secrets)
	m.part.TLS = m.files.TLS()
	dir, err := embeddedetcd.OpenDir(m.data)
	if err != nil {
		t.Fatal(err)
	}
	if m.etcd, err = embeddedetcd.StartPart(dir, m.part); err != nil {
		t.Fatal(err)
	}
}

func (m *member) ready(t *testing.T) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	if err := m.etcd.WaitReady(ctx); err != nil {
		t.Fatal(err)
	}
}

func (m *member) close(t *testing.T) {
	t.Helper()
	if err := m.etcd.Close(); err != nil {
		t.Errorf("stopping %s: %v", m.part.Name, err)
	}
	m.end()
}

// begin starts a store of three.
func begin(t *testing.T, secrets typedcorev1.SecretInterface) []*member {
	t.Helper()
	members, cluster := []*member{}, map[string]string{}
	for i := range 3 {
		part := &embeddedetcd.Part{
			Name: fmt.Sprintf("member-%d", i), Host: "127.0.0.1", Listen: "127.0.0.1",
			ClientPort: freePort(t), PeerPort: freePort(t), Token: "test", Cluster: cluster,
		}
		at := part.PeerURL()
		cluster[part.Name] = at.String()
		members = append(members, &member{part: part, data: filepath.Join(t.TempDir(), "data")})
	}
	for _, m := range members {
		m.start(t, secrets)
		t.Cleanup(func() { m.close(t) })
	}
	for _, m := range members {
		m.ready(t)
	}
	return members
}

func freePort(t *testing.T) int {
	t.Helper()
	listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	return listener.Addr().(*net.TCPAddr).Port
}

// issuedBy waits until a member shows a certificate of an authority.
func issuedBy(t *testing.T, m *member, want string) {
	t.Helper()
	var got string
	for deadline := time.Now().Add(patience); time.Now().Before(deadline); <-time.After(10 * time.Millisecond) {
		dialer := tls.Dialer{Config: &tls.Config{InsecureSkipVerify: true}}
		connection, err := dialer.DialContext(t.Context(), "tcp", net.JoinHostPort("127.0.0.1", fmt.Sprint(m.part.ClientPort)))
		if err != nil {
			t.Fatal(err)
		}
		got = connection.(*tls.Conn).ConnectionState().PeerCertificates[0].Issuer.CommonName
		connection.Close()
		if got == want {
			return
		}
	}
	t.Fatalf("%s shows a certificate of %s, want one of %s", m.part.Name, got, want)
}
