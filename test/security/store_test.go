//go:build security

// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package security

import (
	"bytes"
	"context"
	"crypto/tls"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"statefulset.dev/test/harness"
)

const (
	stored = "/registry/statefulset.dev/"
	// placeholder is what the sample configuration has in the place of a key.
	placeholder = "KEY-FROM-head-c-32-/dev/urandom-|-base64"
	sample      = "../../artifacts/examples/encryption.yaml"
)

// encryption is the sample configuration with the named keys, the first of which encrypts.
func (w *world) encryption(t testing.TB, names ...string) string {
	t.Helper()
	content := read(t, sample)
	const entry = "      - name: one\n        secret: " + placeholder + "\n"
	if !strings.Contains(content, entry) {
		t.Fatalf("%s: got %s, want it to have %q", sample, content, entry)
	}
	var keys strings.Builder
	for _, name := range names {
		keys.WriteString("      - name: " + strings.TrimSuffix(name, "-wrong") + "\n        secret: " + w.keys[name] + "\n")
	}
	return write(t, t.TempDir(), "encryption.yaml", strings.Replace(content, entry, keys.String(), 1))
}

func (w *world) etcdClient(t testing.TB, url string, ca authority, certs ...pair) (*clientv3.Client, error) {
	t.Helper()
	config := &tls.Config{RootCAs: poolOf(ca), MinVersion: tls.VersionTLS12}
	for _, cert := range certs {
		config.Certificates = append(config.Certificates, cert.tls(t))
	}
	return clientv3.New(clientv3.Config{Endpoints: []string{url}, TLS: config, DialTimeout: 5 * time.Second, Logger: zap.NewNop()})
}

// raw is what etcd holds, by key.
func (w *world) raw(t *testing.T, prefix string) map[string][]byte {
	t.Helper()
	client, err := w.etcdClient(t, w.etcd, w.etcdCA, w.etcdCA.issue(t, etcdUser))
	if err != nil {
		t.Fatalf("connecting to etcd: %v", err)
	}
	defer client.Close()
	got, err := client.Get(t.Context(), prefix, clientv3.WithPrefix())
	if err != nil {
		t.Fatalf("reading etcd: %v", err)
	}
	values := map[string][]byte{}
	for _, kv := range got.Kvs {
		values[string(kv.Key)] = kv.Value
	}
	return values
}

// TestSetsAreEncryptedInEtcd reads the store past the server, changes the key, and reads
// with a wrong one.
func TestSetsAreEncryptedInEtcd(t *testing.T) {
	w := shared(t)
	ns := w.Namespace(t, "security")
	const canary = "canary-of-encryption"
	make := func(name string) {
		set := harness.NewSet(name, 0)
		set.Annotations = map[string]string{"test/canary": canary}
		w.create(t, ns, set)
	}
	make("first")
	key := func(name string) string {
		return stored + "apps.statefulset.dev/statefulsets/" + ns + "/" + name
	}
	encryptedWith := func(name, keyName string) {
		t.Helper()
		if value, want := w.raw(t, key(name))[key(name)], "k8s:enc:secretbox:v1:"+keyName+":"; !bytes.HasPrefix(value, []byte(want)) {
			t.Errorf("%s in etcd: got %.40q, want that it begins with %q", name, value, want)
		}
	}
	encryptedWith("first", "one")

	// The second key comes first on a second server, which reads what the first wrote and
	// writes what the first cannot read.
	program := w.replica(t, "rekeyed", map[string]string{"encryption-provider-config": w.encryption(t, "two", "one")})
	w.Start(t, program)
	admin, base := w.admin(t), "https://127.0.0.1:"+program.Port()+setsIn(ns)
	if got := ask(t, admin, request{url: base + "/first"}); got.code != http.StatusOK {
		t.Errorf("reading with the old key second: got %d, %s, want 200", got.code, got.body)
	}
	patched := ask(t, admin,
		request{method: http.MethodPatch, url: base + "/first", body: `{"metadata":{"labels":{"a":"b"}}}`, header: mergePatch()})
	if patched.code != http.StatusOK {
		t.Errorf("writing with the new key: got %d, %s, want 200", patched.code, patched.body)
	}
	encryptedWith("first", "two")
	make("other")
	encryptedWith("other", "one")

	// A server with a wrong second key: what that key is needed for cannot be read, and
	// everything else can.
	w.keys["two-wrong"] = newKey(t)
	wrong := w.replica(t, "wrong-key", map[string]string{"encryption-provider-config": w.encryption(t, "one", "two-wrong")})
	w.Start(t, wrong)
	base = "https://127.0.0.1:" + wrong.Port() + setsIn(ns)
	if got := ask(t, admin, request{url: base + "/other"}); got.code != http.StatusOK {
		t.Errorf("reading what the right key is there for: got %d, %s, want 200", got.code, got.body)
	}
	if got := ask(t, admin, request{url: base + "/first?resourceVersion="}); got.code != http.StatusInternalServerError ||
		strings.Contains(got.body, canary) {
		t.Errorf("reading what the right key is missing for: got %d, %s, want 500", got.code, got.body)
	}

	for at, value := range w.raw(t, stored) {
		if bytes.Contains(value, []byte(canary)) {
			t.Errorf("etcd has a value in the clear at %s", at)
		}
	}
	// Back to what the first server can read, for the tests to come.
	if err := w.deleteAt(t, w.replicaURL(program), ns, "first"); err != nil {
		t.Errorf("deleting: %v", err)
	}
}

func (w *world) replicaURL(program interface{ Port() string }) string {
	return "https://127.0.0.1:" + program.Port()
}

func (w *world) deleteAt(t *testing.T, base, ns, name string) error {
	t.Helper()
	return setsAs(t, w.Direct(base)).AppsV1().StatefulSets(ns).Delete(t.Context(), name, metav1.DeleteOptions{})
}

// TestEtcdKnowsWhoAsks connects to the etcd of the suite in every wrong way, and starts a
// server with a certificate of another authority. That the right way works shows in all
// other tests.
func TestEtcdKnowsWhoAsks(t *testing.T) {
	t.Parallel()
	w := shared(t)
	stranger := newAuthority(t, "own etcd")
	plain := strings.Replace(w.etcd, "https://", "http://", 1)
	for name, c := range map[string]struct {
		url   string
		ca    authority
		certs []pair
	}{
		"without TLS":           {plain, w.etcdCA, nil},
		"without a certificate": {w.etcd, w.etcdCA, nil},
		"with another name": {
			w.etcd, w.etcdCA, []pair{w.etcdCA.issue(t, leaf{name: "somebody", hosts: []string{"somebody"}})}},
		"with a certificate of another's":        {w.etcd, w.etcdCA, []pair{stranger.issue(t, etcdUser)}},
		"with one of the cluster's authority":    {w.etcd, w.etcdCA, []pair{w.clusterCA.issue(t, etcdUser)}},
		"when etcd has a certificate of another": {w.etcd, stranger, []pair{w.etcdCA.issue(t, etcdUser)}},
	} {
		client, err := w.etcdClient(t, c.url, c.ca, c.certs...)
		if err != nil {
			continue
		}
		ctx, cancel := context.WithTimeout(t.Context(), 3*time.Second)
		if got, err := client.Get(ctx, stored, clientv3.WithPrefix(), clientv3.WithCountOnly()); err == nil {
			t.Errorf("%s: etcd answered that it has %d values, want a refusal", name, got.Count)
		}
		cancel()
		_ = client.Close()
	}

	dir := t.TempDir()
	stranger.issue(t, etcdUser).write(t, dir, "etcd")
	program := w.replica(t, "stranger", map[string]string{"etcd-certfile": dir + "/etcd.crt", "etcd-keyfile": dir + "/etcd.key"})
	process := w.Launch(t, program)
	admin, url := w.admin(t), "https://127.0.0.1:"+program.Port()+group+"/statefulsets"
	ctx, cancel := context.WithTimeout(t.Context(), 8*time.Second)
	defer cancel()
	for ; ctx.Err() == nil; time.Sleep(100 * time.Millisecond) {
		if got, err := try(ctx, admin, request{url: url}); err == nil && got.code == http.StatusOK {
			t.Errorf("a server whose certificate etcd does not accept: got %d, %s, want that it does not serve", got.code, got.body)
			break
		}
	}
	process.Kill(t)

	for _, flag := range []string{"etcd-keyfile", "tls-private-key-file", "encryption-provider-config"} {
		if info, err := os.Stat(w.program.Args.Get(flag)); err != nil || info.Mode().Perm()&0o077 != 0 {
			t.Errorf("the file of --%s: got %v, %v, want that only its owner reads it", flag, info, err)
		}
	}
}
