//go:build security

// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package security

import (
	"bufio"
	"context"
	"crypto/tls"
	"encoding/json"
	"fmt"
	"math/big"
	"net/http"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"statefulset.dev/test/harness"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/dynamic"
)

const rotationLoad = 8 // clients that ask without a pause

// TestCertificatesAreExchangedUnderLoad gives the server another certificate, then one of
// another authority, and the old one again, while clients ask it with a new connection
// for each request, and others ask by way of the host.
func TestCertificatesAreExchangedUnderLoad(t *testing.T) {
	w := shared(t)
	dir := filepath.Dir(w.program.Args.Get("tls-cert-file"))
	old := pair{[]byte(read(t, filepath.Join(dir, "serving.crt"))), []byte(read(t, filepath.Join(dir, "serving.key")))}
	nextCA := newAuthority(t, "next serving")
	admin := w.known(t, "security-admin", "system:masters")
	config := &tls.Config{RootCAs: poolOf(w.servingCA, nextCA), Certificates: []tls.Certificate{admin.tls(t)}, MinVersion: tls.VersionTLS12}
	anew := &http.Client{Transport: &http.Transport{TLSClientConfig: config, DisableKeepAlives: true}, Timeout: harness.Patience}
	host := through(t, w.Config)

	ctx, stop := context.WithCancel(t.Context())
	var running sync.WaitGroup
	var served, failed atomic.Int64
	for i := range rotationLoad {
		client, base := anew, w.server()
		if i%2 == 1 {
			client, base = host, w.Config.Host
		}
		running.Go(func() {
			for ctx.Err() == nil {
				got, err := try(ctx, client, request{url: base + setsIn("default")})
				switch {
				case ctx.Err() != nil:
				case err != nil || got.code != http.StatusOK:
					failed.Add(1)
					t.Errorf("at %s: got %d, %s, %v, want 200", base, got.code, got.body, err)
				default:
					served.Add(1)
				}
			}
		})
	}
	end := func() { stop(); running.Wait() }
	defer end()

	next := servingLeaf
	next.ends = time.Now().Add(3 * time.Hour).Truncate(time.Second)
	w.exchange(t, config, dir, w.servingCA.issue(t, next))
	if got := w.metric(t, "statefulset_apiserver_certificate_expiration_seconds"); got != float64(next.ends.Unix()) {
		t.Errorf("metric of when the certificate ends: got %.0f, want %d", got, next.ends.Unix())
	}
	w.trust(t, w.servingCA, nextCA)
	w.exchange(t, config, dir, nextCA.issue(t, servingLeaf))
	w.trust(t, nextCA)
	w.trust(t, w.servingCA, nextCA)
	w.exchange(t, config, dir, old)
	w.trust(t, w.servingCA)
	before := served.Load()
	harness.Eventually(t, "more is served", func(context.Context) error {
		if now := served.Load(); now < before+10*rotationLoad {
			return fmt.Errorf("got %d, want %d", now, before+10*rotationLoad)
		}
		return nil
	})
	end()
	t.Logf("3 certificates of 2 authorities: %d requests served, %d failed", served.Load(), failed.Load())
}

// exchange puts a certificate in place, and waits until it is shown.
func (w *world) exchange(t *testing.T, config *tls.Config, dir string, p pair) {
	t.Helper()
	p.write(t, dir, "serving")
	begun := time.Now()
	want := p.tls(t).Leaf.SerialNumber
	harness.Eventually(t, "the new certificate is shown", func(ctx context.Context) error {
		got, err := w.shown(ctx, config)
		if err != nil || got.Cmp(want) != 0 {
			return fmt.Errorf("got %v, %v, want %v", got, err, want) //nolint:errorlint // it may be nil
		}
		return nil
	})
	t.Logf("a new certificate was shown after %s", time.Since(begun).Round(time.Millisecond))
}

func (w *world) shown(ctx context.Context, config *tls.Config) (*big.Int, error) {
	conn, err := (&tls.Dialer{Config: config}).DialContext(ctx, "tcp", strings.TrimPrefix(w.server(), "https://"))
	if err != nil {
		return nil, err
	}
	defer conn.Close()
	return conn.(*tls.Conn).ConnectionState().PeerCertificates[0].SerialNumber, nil
}

// trust makes the host know our server by these authorities, and waits until it does.
func (w *world) trust(t *testing.T, authorities ...authority) {
	t.Helper()
	var bundle []byte
	for _, a := range authorities {
		bundle = append(bundle, a.pem...)
	}
	client, err := dynamic.NewForConfig(w.Config)
	if err != nil {
		t.Fatalf("creating a client: %v", err)
	}
	patch, err := json.Marshal(map[string]any{"spec": map[string]any{"caBundle": bundle}})
	if err != nil {
		t.Fatalf("encoding: %v", err)
	}
	services := client.Resource(schema.GroupVersionResource{Group: "apiregistration.k8s.io", Version: "v1", Resource: "apiservices"})
	if _, err := services.Patch(t.Context(), "v1.apps.statefulset.dev", types.MergePatchType, patch, metav1.PatchOptions{}); err != nil {
		t.Fatalf("changing the APIService: %v", err)
	}
	// Nothing says when the host has taken notice; ten rounds of requests are enough for
	// one that would fail.
	for range 10 {
		if got := ask(t, through(t, w.Config), request{url: w.Config.Host + setsIn("default")}); got.code != http.StatusOK {
			t.Errorf("after the authorities have changed: got %d, %s, want 200", got.code, got.body)
		}
		time.Sleep(100 * time.Millisecond)
	}
}

// metric is the value of a metric without labels of the server that runs for all.
func (w *world) metric(t testing.TB, name string) float64 {
	t.Helper()
	lines := bufio.NewScanner(strings.NewReader(ask(t, w.asking, request{url: w.server() + "/metrics"}).body))
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		if rest, ok := strings.CutPrefix(lines.Text(), name+" "); ok {
			value, err := strconv.ParseFloat(strings.TrimSpace(rest), 64)
			if err != nil {
				t.Fatalf("metric %s: %v", name, err)
			}
			return value
		}
	}
	t.Errorf("there is no metric %s", name)
	return 0
}
