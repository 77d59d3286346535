// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package certificates

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

	"go.etcd.io/etcd/client/pkg/v3/transport"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes/fake"
	typedcorev1 "k8s.io/client-go/kubernetes/typed/core/v1"
	clienttesting "k8s.io/client-go/testing"

	"statefulset.dev/store/embedded"
	"statefulset.dev/store/issuer"
	"statefulset.dev/store/rights"
)

// secretsOf is a host in memory with the empty Secrets of the manifests. It refuses a write over what
// its writer has not seen.
func secretsOf(t *testing.T) typedcorev1.SecretInterface {
	t.Helper()
	host := fake.NewClientset()
	var mu sync.Mutex
	versions := map[string]int{}
	host.PrependReactor("update", "secrets", func(action clienttesting.Action) (bool, runtime.Object, error) {
		next := action.(clienttesting.UpdateAction).GetObject().(*corev1.Secret)
		mu.Lock()
		defer mu.Unlock()
		if next.ResourceVersion != fmt.Sprint(versions[next.Name]) {
			return true, nil, apierrors.NewConflict(corev1.Resource("secrets"), next.Name, errors.New("it has changed"))
		}
		versions[next.Name]++
		next.ResourceVersion = fmt.Sprint(versions[next.Name])
		return false, nil, nil
	})
	secrets := host.CoreV1().Secrets(namespace)
	for _, name := range []string{Peers.Secret(), Clients.Secret(), ServersSecret} {
		empty := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: name, ResourceVersion: "0"}}
		if _, err := secrets.Create(t.Context(), empty, metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	return secrets
}

// party is a process that looks after its files.
type party struct {
	files *Files
	stop  context.CancelFunc
	done  sync.WaitGroup
}

// join starts a process. It looks after its files until the test ends.
func join(t *testing.T, files *Files, err error) *party {
	t.Helper()
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
	files, err := Receive(t.Context(), t.TempDir(), secrets, namespace)
	return clientOf(t, join(t, files, err).files.TLS())
}

func clientOf(t *testing.T, info transport.TLSInfo) *tls.Config {
	t.Helper()
	config, err := info.ClientConfig()
	if err != nil {
		t.Fatal(err)
	}
	return config
}

// member is one of three.
type member struct {
	parties []*party
	data    string
	part    *embedded.MemberConfig
	etcd    *embedded.Etcd
}

func (m *member) endpoint() string { at := m.part.ClientURL(); return at.String() }

func (m *member) request() issuer.Request {
	return issuer.Request{Name: m.part.Name, IPs: []net.IP{net.IPv4(127, 0, 0, 1)}, Client: true, Lifetime: DefaultLifetime}
}

// start starts the process of a member, on its disk. Its certificates are in memory, so they are new.
func (m *member) start(t *testing.T, secrets typedcorev1.SecretInterface) {
	t.Helper()
	for authority, info := range map[Authority]*transport.TLSInfo{Peers: &m.part.PeerTLS, Clients: &m.part.ClientTLS} {
		files, err := Sign(t.Context(), t.TempDir(), authority, m.request(), secrets, namespace)
		m.parties = append(m.parties, join(t, files, err))
		*info = files.TLS()
	}
	m.part.Serving = rights.Rights{Members: []string{"member-0", "member-1", "member-2"}, Server: ServerName, Prefix: prefix}.Options()
	m.run(t)
}

func (m *member) run(t *testing.T) {
	t.Helper()
	dir, err := embedded.OpenDir(m.data)
	if err != nil {
		t.Fatal(err)
	}
	if m.etcd, err = embedded.StartMember(dir, m.part); err != nil {
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
	for _, p := range m.parties {
		p.end()
	}
	m.parties = nil
}

// begin starts a store of three.
func begin(t *testing.T, start func(*member)) []*member {
	t.Helper()
	members, cluster := []*member{}, map[string]string{}
	for i := range 3 {
		part := &embedded.MemberConfig{
			Name: fmt.Sprintf("member-%d", i), Host: "127.0.0.1", Listen: "127.0.0.1",
			ClientPort: freePort(t), PeerPort: freePort(t), Token: "test", Cluster: cluster,
		}
		at := part.PeerURL()
		cluster[part.Name] = at.String()
		members = append(members, &member{part: part, data: filepath.Join(t.TempDir(), "data")})
	}
	for _, m := range members {
		start(m)
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

// issuedBy waits until a port of a member shows a certificate of an authority.
func issuedBy(t *testing.T, m *member, port int, want string) {
	t.Helper()
	var got string
	for deadline := time.Now().Add(patience); time.Now().Before(deadline); <-time.After(10 * time.Millisecond) {
		dialer := tls.Dialer{Config: &tls.Config{InsecureSkipVerify: true}}
		connection, err := dialer.DialContext(t.Context(), "tcp", net.JoinHostPort("127.0.0.1", fmt.Sprint(port)))
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
