//go:build faults

// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package certificates

import (
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/util/cert"

	"statefulset.dev/test/faults/internal/row"
	"statefulset.dev/test/harness"
	"statefulset.dev/test/harness/lab"
)

// requestsPerSecond come through the host, and as many connections are made to the
// replicas directly.
const requestsPerSecond = 50

// TestNoRequestFailsWhileEverythingIsRenewed begins with a registration whose authority
// somebody else has made, as it is when an installation changes to certificates of its
// own. ROTATIONS is how many authorities take the place of another, 5 by default.
func TestNoRequestFailsWhileEverythingIsRenewed(t *testing.T) {
	rotations := harness.Number(t, "ROTATIONS", 5)
	if testing.Short() {
		rotations = 1
	}
	s := open(t)
	before, err := s.trusted(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	programs := []lab.Program{s.server, s.replica(t, "replica-1"), s.replica(t, "replica-2")}
	var ports []string
	var starting []*lab.Process
	for _, p := range programs {
		starting, ports = append(starting, s.Launch(t, p)), append(ports, p.Port())
	}
	for _, p := range starting {
		if err := p.AwaitReady(t.Context()); err != nil {
			t.Fatalf("starting %s: %v", p.Name, err)
		}
	}
	seen := &history{suite: s, before: subjects(before)}
	if err := seen.look(t.Context()); err != nil {
		t.Fatal(err)
	}
	if len(seen.names) != 1 {
		t.Errorf("authorities made by three replicas that start at once: got %v, want one", seen.names)
	}
	for _, one := range before {
		if !slices.ContainsFunc(seen.trusted(), one.Equal) {
			t.Errorf("%s was trusted before, and a replica might still show a certificate of it: got %v", one.Subject, subjects(seen.trusted()))
		}
	}
	first := seen.names[0]
	s.awaitAvailable(t)

	l := &load{suite: s, seen: seen, ports: ports}
	stop := l.start(t)
	for deadline := time.Now().Add(time.Duration(rotations+1) * patience); len(seen.names) <= rotations ||
		seen.trusts(first); time.Sleep(poll) {
		if err := seen.look(t.Context()); err != nil {
			t.Fatal(err)
		}
		if seen.keys > 2 {
			t.Errorf("authorities that can sign at a time: got %d, want at most 2", seen.keys)
		}
		if time.Now().After(deadline) {
			t.Fatalf("after %d rotations were due: got the authorities %v, of which these are trusted: %v", rotations, seen.names,
				subjects(seen.trusted()))
		}
	}
	stop()
	for _, one := range before {
		if slices.ContainsFunc(seen.trusted(), one.Equal) {
			t.Errorf("%s is still trusted after another authority has taken its place", one.Subject)
		}
	}
	for _, failure := range l.failures {
		t.Errorf("failed: %s", failure)
	}
	row.Report(t, row.Row{
		Fault: "certificates and authorities run out", Side: "ours", Where: "real", Runs: len(seen.names) - 1, Violations: len(l.failures),
		Detail: fmt.Sprintf("%d requests through the host and %d handshakes with three replicas, which showed %d certificates", l.requests,
			l.handshakes, len(l.shown)),
	})
}

func (s *suite) awaitAvailable(t *testing.T) {
	t.Helper()
	for deadline := time.Now().Add(patience); ; time.Sleep(poll) {
		_, err := s.host.Discovery().RESTClient().Get().AbsPath("/apis/apps.statefulset.dev/v1").DoRaw(t.Context())
		if err == nil {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("the API through the host after %s: %v", patience, err)
		}
	}
}

// history is which authorities there have been, those left out that were trusted before.
type history struct {
	suite  *suite
	before []string
	names  []string
	keys   int

	mu  sync.Mutex
	now []*x509.Certificate
}

func (h *history) trusted() []*x509.Certificate {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.now
}

func (h *history) look(ctx context.Context) error {
	secret, err := h.suite.host.CoreV1().Secrets(system).Get(ctx, authorities, metav1.GetOptions{})
	if err != nil {
		return fmt.Errorf("reading the authorities: %w", err)
	}
	all, err := cert.ParseCertsPEM(secret.Data["ca.crt"])
	if err != nil {
		return fmt.Errorf("reading the authorities: %w", err)
	}
	for _, one := range all {
		name := one.Subject.CommonName
		if !slices.Contains(h.before, name) && !slices.Contains(h.names, name) {
			h.names = append(h.names, name)
		}
	}
	h.keys = strings.Count(string(secret.Data["ca.key"]), "BEGIN")
	trusted, err := h.suite.trusted(ctx)
	if err != nil {
		return fmt.Errorf("reading whom the host trusts: %w", err)
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.now = trusted
	return nil
}

func (h *history) trusts(name string) bool { return slices.Contains(subjects(h.trusted()), name) }

func subjects(all []*x509.Certificate) []string {
	var names []string
	for _, one := range all {
		names = append(names, one.Subject.CommonName)
	}
	return names
}

// load asks all the time, and notes what failed.
type load struct {
	suite *suite
	seen  *history
	ports []string

	mu                   sync.Mutex
	requests, handshakes int
	shown                map[string]bool
	failures             []string
}

// start begins. The func that it returns waits until all has ended.
func (l *load) start(t *testing.T) (stop func()) {
	l.shown = map[string]bool{}
	client, err := rest.HTTPClientFor(l.suite.Config)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	var running sync.WaitGroup
	for _, ask := range []func(context.Context, int) error{
		func(ctx context.Context, _ int) error { return l.ask(ctx, client) },
		func(ctx context.Context, i int) error { return l.connect(ctx, l.ports[i%len(l.ports)]) },
	} {
		running.Go(func() {
			ticker := time.NewTicker(time.Second / requestsPerSecond)
			defer ticker.Stop()
			for i := 0; ; i++ {
				select {
				case <-ctx.Done():
					return
				case <-ticker.C:
				}
				// What is under way when the test ends is not the server's failure.
				if err := ask(context.WithoutCancel(ctx), i); err != nil {
					l.fail(err)
				}
			}
		})
	}
	return func() {
		cancel()
		running.Wait()
	}
}

func (l *load) fail(err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.failures = append(l.failures, time.Now().UTC().Format(time.RFC3339Nano)+" "+err.Error())
}

// ask sends a request the way of all requests. Nothing repeats it.
func (l *load) ask(ctx context.Context, client *http.Client) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, l.suite.Config.Host+"/apis/apps.statefulset.dev/v1/statefulsets?limit=1",
		nil)
	if err != nil {
		return err
	}
	response, err := client.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	l.mu.Lock()
	l.requests++
	l.mu.Unlock()
	if err == nil && response.StatusCode != http.StatusOK {
		err = fmt.Errorf("%s: %s", response.Status, body)
	}
	return err
}

func (l *load) connect(ctx context.Context, port string) error {
	shown, err := handshake(ctx, port, l.seen.trusted())
	if err != nil {
		return errors.Join(fmt.Errorf("handshake with port %s, trusting %v", port, subjects(l.seen.trusted())), err)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.handshakes++
	l.shown[shown.SerialNumber.String()] = true
	return nil
}
