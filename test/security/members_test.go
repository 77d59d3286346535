//go:build security

// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package security

import (
	"context"
	"crypto/ecdsa"
	"crypto/tls"
	"crypto/x509"
	"net"
	"strings"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	typedcorev1 "k8s.io/client-go/kubernetes/typed/core/v1"

	"statefulset.dev/test/harness"
	"statefulset.dev/test/harness/lab"
)

const (
	storeRights = "../../artifacts/ha/rbac-etcd.yaml"
	storePrefix = "statefulset-apiserver-etcd-"
)

// takenOver is a server whose account and certificate somebody else has got hold of, and the store
// that it belongs to.
type takenOver struct {
	members []lab.StoreMember
	secrets typedcorev1.SecretInterface // as the account of the server
	shown   tls.Certificate
	trusts  *x509.CertPool
}

// takeOver starts a store of three, and takes what its servers get.
func (w *world) takeOver(t *testing.T) takenOver {
	t.Helper()
	ns := w.Namespace(t, "store")
	o := takenOver{members: w.StoreMembersIn(t, ns, storeRights, 3)}
	var processes []*lab.Process
	for _, m := range o.members {
		processes = append(processes, w.Launch(t, m.Program))
	}
	for _, p := range processes {
		if err := p.AwaitReady(t.Context()); err != nil {
			t.Fatalf("starting the store: %v", err)
		}
	}
	account := "system:serviceaccount:" + ns + ":statefulset-apiserver"
	o.secrets = hostAs(t, w.as(account, "system:serviceaccounts", "system:serviceaccounts:"+ns)).CoreV1().Secrets(ns)
	harness.Eventually(t, "members have signed a certificate for the servers", func(ctx context.Context) error {
		secret, err := o.secrets.Get(ctx, storePrefix+"server-tls", metav1.GetOptions{})
		if err == nil {
			o.shown, err = tls.X509KeyPair(secret.Data[corev1.TLSCertKey], secret.Data[corev1.TLSPrivateKeyKey])
		}
		if err == nil {
			o.trusts = x509.NewCertPool()
			o.trusts.AppendCertsFromPEM(secret.Data["ca.crt"])
		}
		return err
	})
	harness.Eventually(t, "the store takes what a server writes", func(ctx context.Context) error {
		client := o.client(t, o.shown)
		defer client.Close()
		ctx, cancel := context.WithTimeout(ctx, 3*time.Second)
		defer cancel()
		_, err := client.Put(ctx, stored+"a", "b")
		return err
	})
	return o
}

func (o takenOver) client(t *testing.T, shown tls.Certificate) *clientv3.Client {
	t.Helper()
	var endpoints []string
	for _, m := range o.members {
		endpoints = append(endpoints, m.URL)
	}
	config := &tls.Config{RootCAs: o.trusts, Certificates: []tls.Certificate{shown}, MinVersion: tls.VersionTLS12}
	client, err := clientv3.New(clientv3.Config{Endpoints: endpoints, TLS: config, DialTimeout: 5 * time.Second, Logger: zap.NewNop()})
	if err != nil {
		t.Fatalf("connecting to the store: %v", err)
	}
	return client
}

// TestAServerThatWasTakenOverReadsNoAuthority looks for a key, and for a way to write what members have
// signed, with the account of the server.
func TestAServerThatWasTakenOverReadsNoAuthority(t *testing.T) {
	t.Parallel()
	o := shared(t).takeOver(t)
	secret, err := o.secrets.Get(t.Context(), storePrefix+"server-tls", metav1.GetOptions{})
	if err != nil {
		t.Fatalf("reading its own certificate: got %v, want that it may", err)
	}
	if _, has := secret.Data["ca.key"]; has {
		t.Errorf("what members hand to servers: got a key of an authority, want certificates alone")
	}
	get := func(name string) func() error {
		return func() error { _, err := o.secrets.Get(t.Context(), storePrefix+name, metav1.GetOptions{}); return err }
	}
	for sentence, try := range map[string]func() error{
		"reads the authority of peers":            get("peer-ca"),
		"reads the authority of clients":          get("client-ca"),
		"reads the authority of earlier versions": get("ca"),
		"lists Secrets":                           func() error { _, err := o.secrets.List(t.Context(), metav1.ListOptions{}); return err },
		"writes its certificate": func() error {
			_, err := o.secrets.Update(t.Context(), secret, metav1.UpdateOptions{})
			return err
		},
		"creates a Secret": func() error {
			_, err := o.secrets.Create(t.Context(), &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: "x"}}, metav1.CreateOptions{})
			return err
		},
	} {
		if err := try(); !apierrors.IsForbidden(err) {
			t.Errorf("a server that %s: got %v, want that it is forbidden", sentence, err)
		}
	}
}

// TestAServerThatWasTakenOverIsNoPeerOfTheStore tries to become a member with the certificate of the
// server, through the ports of members that run.
func TestAServerThatWasTakenOverIsNoPeerOfTheStore(t *testing.T) {
	t.Parallel()
	o := shared(t).takeOver(t)
	client := o.client(t, o.shown)
	defer client.Close()
	for sentence, try := range map[string]func(context.Context) error{
		"adds a member": func(ctx context.Context) error {
			_, err := client.MemberAdd(ctx, []string{"https://127.0.0.1:1"})
			return err
		},
		"lists members":   func(ctx context.Context) error { _, err := client.MemberList(ctx); return err },
		"adds a user":     func(ctx context.Context) error { _, err := client.UserAdd(ctx, "root", "x"); return err },
		"reads all keys":  func(ctx context.Context) error { _, err := client.Get(ctx, "", clientv3.WithPrefix()); return err },
		"blocks a member": func(ctx context.Context) error { _, err := client.Defragment(ctx, o.members[0].URL); return err },
	} {
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		if err := try(ctx); err == nil || !strings.Contains(err.Error(), "must") {
			t.Errorf("a server that %s: got %v, want that the member refuses it", sentence, err)
		}
		cancel()
	}
	for _, m := range o.members {
		address := net.JoinHostPort(m.Host, m.Args.Get("peer-port"))
		dialer := tls.Dialer{Config: &tls.Config{InsecureSkipVerify: true, Certificates: []tls.Certificate{o.shown}}}
		connection, err := dialer.DialContext(t.Context(), "tcp", address)
		if err == nil {
			_, _ = connection.Write([]byte("GET /members HTTP/1.1\r\nHost: store\r\nConnection: close\r\n\r\n"))
			_ = connection.SetReadDeadline(time.Now().Add(10 * time.Second))
			_, err = connection.Read(make([]byte, 1))
			_ = connection.Close()
		}
		if err == nil || !strings.Contains(err.Error(), "certificate") {
			t.Errorf("a server that speaks to the peer port of %s: got %v, want that its certificate is refused", m.Name, err)
		}
	}
}

// TestAServerThatWasTakenOverMintsNoCertificate shows members certificates with the name of a member.
func TestAServerThatWasTakenOverMintsNoCertificate(t *testing.T) {
	t.Parallel()
	o := shared(t).takeOver(t)
	key, is := o.shown.PrivateKey.(*ecdsa.PrivateKey)
	if !is {
		t.Fatalf("the key of a server: got a %T, want an ECDSA key", o.shown.PrivateKey)
	}
	for sentence, signer := range map[string]authority{
		"its own certificate":           {cert: o.shown.Leaf, key: key},
		"an authority that it has made": newAuthority(t, "statefulset-apiserver-etcd-clients"),
	} {
		client := o.client(t, signer.issue(t, leaf{name: "store-0"}).tls(t))
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
		if _, err := client.MemberList(ctx); err == nil {
			t.Errorf("a certificate that %s has signed: got the members, want a refusal", sentence)
		}
		cancel()
		_ = client.Close()
	}
}
