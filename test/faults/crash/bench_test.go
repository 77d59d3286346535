//go:build faults

// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package crash

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/dynamic"

	"statefulset.dev/test/faults/internal/scenarios"
	"statefulset.dev/test/harness"
	"statefulset.dev/test/harness/lab"
	"statefulset.dev/test/harness/proxy"
)

// patience bounds every run of the suite, faults included. It is long, because no
// verdict may depend on how busy the machine is.
const patience = 8 * time.Minute

// bench is the cluster with our server on an etcd of the suite's own, and without
// the built-in StatefulSet controller, which a test starts when it wants one.
type bench struct {
	*lab.Lab

	etcd  lab.Etcd
	front *proxy.Link
	// server is our server where the cluster looks for it: behind the front.
	server lab.Program
	world  *world
	audit  *auditLog
	// collector is the host's controller manager, which has the garbage collector.
	collector *collector
}

// short is the one test that -test.short plays, with the first few scenarios.
const (
	short          = "TestCrashAroundEveryWriteOurs"
	shortScenarios = 4
)

// openBench takes the cluster over. Nothing of ours runs yet.
func openBench(t *testing.T) *bench {
	t.Helper()
	if testing.Short() && t.Name() != short {
		t.Skipf("-test.short plays %s alone", short)
	}
	l := lab.Open(t)
	b := &bench{Lab: l, server: l.TakeOver(t, lab.Server), audit: openAudit(t, l.Path("logs", "audit.log"))}
	manager := l.TakeOver(t, lab.ControllerManager)
	b.makeNode(t)
	b.LetMake(t, []string{objects, secrets}, "delete")
	b.MustKubectl(t, "", "apply", "-k", "../../../artifacts/reclaim") // scenarios have claims deleted
	b.startStore(t)
	b.server = l.WithPort(t, b.server, "our-server")
	b.server.Args = b.server.Args.Without("data-dir").With("leader-elect", "false").With("etcd-servers", b.etcd.URL)
	b.front = proxy.NewLink(t, l.Address(lab.Server), "127.0.0.1:"+b.server.Port(), true)
	b.world = watchWorld(t, b)
	manager.Args = manager.Args.With("controllers", "*,-node-lifecycle-controller,-statefulset-controller")
	b.collector = startCollector(t, b, manager)
	return b
}

// startStore starts the etcd of the suite, with what an earlier test has left: to the
// host, the sets of a store that is empty all of a sudden would be lost ones.
func (b *bench) startStore(t *testing.T) {
	t.Helper()
	member := b.EtcdMembers(t, 1)[0]
	member.Data = b.Path("faults-etcd")
	member.Args = member.Args.With("data-dir", member.Data)
	b.Start(t, member.Program)
	b.etcd = member
}

// makeNode makes the node that pods are bound to, and that nobody else looks after.
func (b *bench) makeNode(t *testing.T) {
	t.Helper()
	room := corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("1k"), corev1.ResourceMemory: resource.MustParse("1Ti"),
		corev1.ResourcePods: resource.MustParse("10k")}
	_, err := b.Host.CoreV1().Nodes().Create(t.Context(), &corev1.Node{
		ObjectMeta: metav1.ObjectMeta{Name: node}, Status: corev1.NodeStatus{Capacity: room, Allocatable: room}, // or nothing could be resized
	}, metav1.CreateOptions{})
	if err != nil && !apierrors.IsAlreadyExists(err) {
		t.Fatalf("creating node %s: %v", node, err)
	}
}

// warmUp waits until the cluster's controllers know our group. Our server must run.
func (b *bench) warmUp(t *testing.T) {
	t.Helper()
	if err := b.WarmUp(t.Context()); err != nil {
		t.Fatalf("waiting for the cluster's controllers: %v", err)
	}
}

// sets is a client for the sets of a side, as a user.
func (b *bench) sets(t *testing.T, s side) dynamic.NamespaceableResourceInterface {
	t.Helper()
	config := b.Config
	if s == ours {
		config = b.Direct("https://" + b.front.Address())
	}
	config.Timeout = 10 * time.Second
	client, err := dynamic.NewForConfig(config)
	if err != nil {
		t.Fatalf("creating a client: %v", err)
	}
	return client.Resource(s.resource())
}

// proxied is a proxy between a controller of the side and a kube-apiserver.
func (b *bench) proxied(t *testing.T, s side, target string) *proxy.Host {
	t.Helper()
	serving, err := tls.LoadX509KeyPair(b.Path("pki", "serving.crt"), b.Path("pki", "serving.key"))
	if err != nil {
		t.Fatalf("reading the host's certificate: %v", err)
	}
	client, err := b.TLS()
	if err != nil {
		t.Fatalf("reading the host's authority: %v", err)
	}
	certificate := s.certificate(b.Lab)
	pair, err := tls.LoadX509KeyPair(certificate+".crt", certificate+".key")
	if err != nil {
		t.Fatalf("reading the client's certificate: %v", err)
	}
	client.Certificates = []tls.Certificate{pair}
	return proxy.NewHost(t, proxy.HostConfig{Target: target, Serving: serving, Client: client})
}

// chosen are the scenarios that a side plays: all of them, or the first few, or those that
// are named. The built-in controller plays every other one of those that it can play: enough
// to compare with.
func chosen(t *testing.T, s side) []scenarios.Scenario {
	t.Helper()
	all := slices.Concat(scenarios.All(), scenarios.Beyond())
	if s == builtIn {
		all = nil
		for i, scenario := range scenarios.All() {
			if i%2 == 1 {
				all = append(all, scenario)
			}
		}
	}
	all = slices.DeleteFunc(all, func(s scenarios.Scenario) bool { return !strings.Contains(s.Name, os.Getenv("FAULTS_NAMED")) })
	full := len(all)
	if testing.Short() {
		full = shortScenarios
	}
	return all[:min(len(all), harness.Number(t, "FAULTS_SCENARIOS", full))]
}

func at(ordinal int) string { return fmt.Sprintf("%s-%d", setName, ordinal) }

// etcdTLS is how kube-apiserver speaks to the host's etcd.
func (b *bench) etcdTLS(t *testing.T) *tls.Config {
	t.Helper()
	args := b.Program(t, lab.HostAPI).Args
	pair, err := tls.LoadX509KeyPair(args.Get("etcd-certfile"), args.Get("etcd-keyfile"))
	if err != nil {
		t.Fatalf("reading the certificate for etcd: %v", err)
	}
	authority, err := os.ReadFile(args.Get("etcd-cafile"))
	if err != nil {
		t.Fatalf("reading the authority of etcd: %v", err)
	}
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(authority)
	return &tls.Config{RootCAs: roots, Certificates: []tls.Certificate{pair}, MinVersion: tls.VersionTLS12}
}
