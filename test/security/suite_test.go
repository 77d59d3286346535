//go:build security

// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package security

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"syscall"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"statefulset.dev/test/harness"
	"statefulset.dev/test/harness/lab"
)

// allowDelete is the annotation without which what the store needs stays.
const allowDelete = "apps.statefulset.dev/allow-delete"

// world is the cluster of all tests of this package.
type world struct {
	*lab.Lab
	// program is the server as it runs for all, and process its process.
	program lab.Program
	process *lab.Process

	// since is when the host was ready. A host that starts refuses everything at first.
	since time.Time
	// lacking are the times for which a test took rights from the server.
	lacking []period

	asking *http.Client // as administrator, straight to the server

	// The authorities of the cluster, and those of this suite.
	clusterCA, frontProxyCA, servingCA, etcdCA authority
	etcd                                       string // its address
	keys                                       map[string]string
	traces                                     *collector
}

func (w *world) ownAudit() string  { return w.Path("logs", "own-audit.log") }
func (w *world) hostAudit() string { return w.Path("logs", "host-audit.log") }

var (
	once   sync.Once
	common *world
	ends   []func()
)

func TestMain(m *testing.M) {
	code := m.Run()
	for _, end := range slices.Backward(ends) {
		end()
	}
	os.Exit(code)
}

// period is a time with a begin and an end.
type period struct{ from, until time.Time }

// lacks notes that the server lacks rights until the test has ended. It comes before what the test cleans up.
func (w *world) lacks(t *testing.T) {
	from := time.Now()
	t.Cleanup(func() { w.lacking = append(w.lacking, period{from, time.Now()}) })
}

// lasting is a test that goes on until the last one has ended.
type lasting struct{ testing.TB }

func (lasting) Cleanup(end func())       { ends = append(ends, end) }
func (lasting) Context() context.Context { return context.Background() }

func (l lasting) TempDir() string {
	dir, err := os.MkdirTemp("", "security-")
	if err != nil {
		l.Fatalf("creating a directory: %v", err)
	}
	l.Cleanup(func() { _ = os.RemoveAll(dir) })
	return dir
}

// shared is the world, which the first test that asks for it starts.
func shared(t *testing.T) *world {
	t.Helper()
	once.Do(func() {
		w := &world{Lab: lab.Open(t), keys: map[string]string{"one": newKey(t), "two": newKey(t)}}
		w.start(lasting{t})
		common = w
	})
	if common == nil {
		t.Fatal("the world of all tests could not be started; see the first that failed")
	}
	return common
}

func (w *world) start(t testing.TB) {
	w.clusterCA, w.frontProxyCA = loadAuthority(t, w.Path("pki", "ca")), loadAuthority(t, w.Path("pki", "front-proxy-ca"))
	w.servingCA, w.etcdCA = loadAuthority(t, w.Path("registration", "serving-ca")), newAuthority(t, "own etcd")
	w.startHost(t)
	w.asking = w.admin(t)
	w.program = w.TakeOver(t, lab.Server)
	w.forgetStore(t)
	w.etcd = w.startEtcd(t)
	w.traces = newCollector(t)
	w.harden(t)
	w.process = w.Start(t, w.program)
	harness.Eventually(t, "the host leads to the server", func(ctx context.Context) error {
		_, err := w.Sets.AppsV1().StatefulSets(metav1.NamespaceAll).List(ctx, metav1.ListOptions{})
		return err
	})
	if err := w.WarmUp(t.Context()); err != nil {
		t.Fatalf("waiting for the cluster's controllers: %v", err)
	}
}

// startHost makes the host write down everything that is asked of it, though no
// contents, and ask for the right to name owners that wait.
func (w *world) startHost(t testing.TB) {
	program := w.Program(t, lab.HostAPI)
	w.kill(t, lab.HostAPI) // told to end, it would wait a minute for those who watch it
	policy := write(t, t.TempDir(), "host-audit.yaml", metadataPolicy)
	program.Args = program.Args.With("audit-policy-file", policy).With("audit-log-path", w.hostAudit()).
		With("enable-admission-plugins", "OwnerReferencesPermissionEnforcement")
	w.Start(t, program)
	w.since = time.Now()
}

// kill ends a component of the cluster at once.
func (w *world) kill(t testing.TB, name string) {
	pid := w.Component(t, name).PID
	link := fmt.Sprintf("/proc/%d/exe", pid)
	if exe, err := os.Readlink(link); err != nil || exe != w.Program(t, name).Exe {
		t.Fatalf("process %d: got %q, %v, want %s", pid, exe, err, w.Program(t, name).Exe)
	}
	if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
		t.Fatalf("ending %s: %v", name, err)
	}
	harness.Eventually(t, "the port of "+name+" is free", func(ctx context.Context) error {
		listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", w.Address(name))
		if err != nil {
			return err
		}
		return listener.Close()
	})
}

const metadataPolicy = `apiVersion: audit.k8s.io/v1
kind: Policy
omitStages: [RequestReceived]
rules:
- level: Metadata
`

// forgetStore makes the host expect a new store.
func (w *world) forgetStore(t testing.TB) {
	const system, note = "statefulset-system", "statefulset-apiserver-store"
	notes := w.Host.CoreV1().ConfigMaps(system)
	harness.Eventually(t, "the note of the old store is gone", func(ctx context.Context) error {
		_, err := notes.Patch(ctx, note, types.MergePatchType, []byte(`{"metadata":{"annotations":{"`+allowDelete+`":"yes"}}}`),
			metav1.PatchOptions{})
		if err == nil {
			err = notes.Delete(ctx, note, metav1.DeleteOptions{})
		}
		if apierrors.IsNotFound(err) {
			return nil
		}
		return err
	})
}

// startEtcd starts an etcd that speaks to nobody without a certificate of its authority
// in the name of our server.
func (w *world) startEtcd(t testing.TB) string {
	dir, port, peer := t.TempDir(), lab.FreePort(t), lab.FreePort(t)
	w.etcdCA.issue(t, leaf{name: "etcd", hosts: []string{"127.0.0.1", "localhost"}}).write(t, dir, "etcd")
	ca := write(t, dir, "ca.crt", string(w.etcdCA.pem))
	url := "https://127.0.0.1:" + port
	w.Start(t, lab.Program{
		Name: "own-etcd", Exe: w.Program(t, lab.HostEtcd).Exe,
		Args: lab.Args{
			"--name=own", "--data-dir=" + filepath.Join(dir, "data"), "--unsafe-no-fsync",
			"--listen-client-urls=" + url, "--advertise-client-urls=" + url,
			"--listen-peer-urls=http://127.0.0.1:" + peer, "--initial-advertise-peer-urls=http://127.0.0.1:" + peer,
			"--initial-cluster=own=http://127.0.0.1:" + peer,
			"--cert-file=" + filepath.Join(dir, "etcd.crt"), "--key-file=" + filepath.Join(dir, "etcd.key"),
			"--client-cert-auth", "--trusted-ca-file=" + ca, "--client-cert-allowed-hostname=statefulset-apiserver",
		},
		Ready: func(ctx context.Context) error {
			client, err := w.etcdClient(t, url, w.etcdCA, w.etcdCA.issue(t, etcdUser))
			if err != nil {
				return err
			}
			defer client.Close()
			_, err = client.Get(ctx, "ready")
			return err
		},
	})
	return url
}

// harden changes how the server is started to what docs/security.md advises.
func (w *world) harden(t testing.TB) {
	dir := t.TempDir()
	w.servingCA.issue(t, servingLeaf).write(t, dir, "serving")
	w.etcdCA.issue(t, etcdUser).write(t, dir, "etcd")
	w.program.Args = w.program.Args.Without("data-dir").
		With("etcd-servers", w.etcd).
		With("etcd-cafile", write(t, dir, "etcd-ca.crt", string(w.etcdCA.pem))).
		With("etcd-certfile", filepath.Join(dir, "etcd.crt")).With("etcd-keyfile", filepath.Join(dir, "etcd.key")).
		With("tls-cert-file", filepath.Join(dir, "serving.crt")).With("tls-private-key-file", filepath.Join(dir, "serving.key")).
		With("encryption-provider-config", w.encryption(t, "one")).
		With("audit-policy-file", write(t, dir, "audit.yaml", metadataPolicy)).With("audit-log-path", w.ownAudit()).
		With("tracing-config-file", write(t, dir, "tracing.yaml", fmt.Sprintf(tracing, w.traces.address)))
}

const tracing = `apiVersion: apiserver.config.k8s.io/v1
kind: TracingConfiguration
endpoint: %s
samplingRatePerMillion: 1000000
`

func newKey(t testing.TB) string {
	t.Helper()
	key := make([]byte, 32)
	if _, err := rand.Read(key); err != nil {
		t.Fatalf("making a key: %v", err)
	}
	return base64.StdEncoding.EncodeToString(key)
}

// replica is another server on the same store, which all tests may start. Its name tells
// its log from others'.
func (w *world) replica(t *testing.T, name string, flags map[string]string) lab.Program {
	t.Helper()
	program := w.WithPort(t, w.program, name)
	program.Args = program.Args.With("audit-log-path", w.Path("logs", name+"-audit.log"))
	for flag, value := range flags {
		program.Args = program.Args.With(flag, value)
	}
	return program
}

func write(t testing.TB, dir, name, content string) string {
	t.Helper()
	path := filepath.Join(dir, name)
	next := path + ".next"
	if err := os.WriteFile(next, []byte(content), 0o600); err != nil {
		t.Fatalf("writing: %v", err)
	}
	if err := os.Rename(next, path); err != nil {
		t.Fatalf("writing: %v", err)
	}
	return path
}

func read(t testing.TB, path string) string {
	t.Helper()
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatalf("reading: %v", err)
	}
	return string(content)
}

// kubeconfigTo is the server's way to its host, with another address.
func (w *world) kubeconfigTo(t *testing.T, address string) string {
	t.Helper()
	return w.Kubeconfig(t, w.program.Args.Get("kubeconfig"), address)
}

// identity is the certificate by which our server is known to its host.
func (w *world) identity(t *testing.T) (cert, key []byte) {
	t.Helper()
	config, err := clientcmd.BuildConfigFromFlags("", w.program.Args.Get("kubeconfig"))
	if err != nil {
		t.Fatalf("reading the server's kubeconfig: %v", err)
	}
	if err := rest.LoadTLSFiles(config); err != nil {
		t.Fatalf("reading the server's certificate: %v", err)
	}
	return config.CertData, config.KeyData
}
