//go:build security

// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package security

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"

	"statefulset.dev/test/harness"
)

// slack is how many goroutines more than before there may be afterwards: other tests of
// this package leave connections behind.
const slack = 60

// settles waits until the server has no more goroutines than before.
func (w *world) settles(t *testing.T, before float64) {
	t.Helper()
	harness.Eventually(t, "the goroutines have ended", func(context.Context) error {
		if now := w.metric(t, "go_goroutines"); now > before+slack {
			return fmt.Errorf("got %.0f, want at most %.0f and %d more", now, before, slack)
		}
		return nil
	})
}

// TestStreamsThatAreResetAtOnce opens streams of HTTP/2 and resets each before it is
// answered, with and without a certificate.
func TestStreamsThatAreResetAtOnce(t *testing.T) {
	const connections, streams = 8, 2000
	w := shared(t)
	before := w.metric(t, "go_goroutines")
	var sent, cut atomic.Int64
	var running sync.WaitGroup
	for i := range connections {
		config := &tls.Config{RootCAs: poolOf(w.servingCA), NextProtos: []string{"h2"}, MinVersion: tls.VersionTLS12}
		if i%2 == 0 {
			certificate := w.known(t, "security-admin", "system:masters").tls(t)
			config.GetClientCertificate = func(*tls.CertificateRequestInfo) (*tls.Certificate, error) { return &certificate, nil }
		}
		running.Go(func() {
			if err := w.reset(t.Context(), config, streams, &sent); err != nil {
				cut.Add(1) // the server may end such a connection
			}
		})
	}
	running.Wait()
	if sent.Load() < streams {
		t.Errorf("streams opened: got %d, want at least %d", sent.Load(), streams)
	}
	if got := ask(t, w.admin(t), request{url: w.server() + "/readyz"}); got.code != http.StatusOK {
		t.Errorf("readyz afterwards: got %d, %s, want 200", got.code, got.body)
	}
	w.settles(t, before)
	t.Logf("%d streams opened and reset on %d connections, of which the server ended %d", sent.Load(), connections, cut.Load())
}

func (w *world) reset(ctx context.Context, config *tls.Config, streams int, sent *atomic.Int64) error {
	conn, err := (&tls.Dialer{Config: config}).DialContext(ctx, "tcp", strings.TrimPrefix(w.server(), "https://"))
	if err != nil {
		return err
	}
	defer conn.Close()
	if _, err := conn.Write([]byte(http2.ClientPreface)); err != nil {
		return err
	}
	framer := http2.NewFramer(conn, conn)
	if err := framer.WriteSettings(); err != nil {
		return err
	}
	go func() { // what comes back is of no interest, but must be taken
		for {
			if _, err := framer.ReadFrame(); err != nil {
				return
			}
		}
	}()
	var block strings.Builder
	encoder := hpack.NewEncoder(&block)
	for i := range streams {
		block.Reset()
		for _, field := range [][2]string{
			{":method", "GET"}, {":scheme", "https"}, {":authority", "localhost"}, {":path", group + "/statefulsets"}} {
			if err := encoder.WriteField(hpack.HeaderField{Name: field[0], Value: field[1]}); err != nil {
				return err
			}
		}
		id := uint32(2*i + 1)
		if err := framer.WriteHeaders(
			http2.HeadersFrameParam{StreamID: id, BlockFragment: []byte(block.String()), EndStream: true, EndHeaders: true}); err != nil {
			return err
		}
		if err := framer.WriteRSTStream(id, http2.ErrCodeCancel); err != nil {
			return err
		}
		sent.Add(1)
	}
	return nil
}

// TestWatchesThatAreLeftLeaveNothingBehind opens many watches and goes away.
func TestWatchesThatAreLeftLeaveNothingBehind(t *testing.T) {
	const watches = 400
	w := shared(t)
	before := w.metric(t, "go_goroutines")
	ctx, leave := context.WithCancel(t.Context())
	defer leave()
	admin := w.admin(t)
	admin.Timeout = 0
	var running sync.WaitGroup
	var open atomic.Int64
	for range watches {
		running.Go(func() {
			asking, err := http.NewRequestWithContext(ctx, http.MethodGet, w.server()+group+"/statefulsets?watch=1", nil)
			if err != nil {
				return
			}
			answer, err := admin.Do(asking)
			if err != nil {
				return
			}
			defer answer.Body.Close()
			if answer.StatusCode == http.StatusOK {
				open.Add(1)
			}
			<-ctx.Done()
		})
	}
	harness.Eventually(t, "the watches are open", func(context.Context) error {
		if now := open.Load(); now < watches {
			return fmt.Errorf("got %d, want %d", now, watches)
		}
		return nil
	})
	during := w.metric(t, "go_goroutines")
	leave()
	running.Wait()
	w.settles(t, before)
	t.Logf("%d watches: %.0f goroutines before, %.0f with them, %.0f afterwards", watches, before, during, w.metric(t, "go_goroutines"))
}

// TestNothingIsRedirected asks for many paths, known ones that were changed and others;
// PATHS says how many.
func TestNothingIsRedirected(t *testing.T) {
	t.Parallel()
	w := shared(t)
	count := harness.Number(t, "PATHS", 5000)
	admin := w.admin(t)
	admin.Timeout = 10 * time.Second // some paths wait for something to happen
	known := w.paths(t, admin)
	var quick []string // those that may be changed without asking for half a minute's profile
	for _, path := range known {
		if !strings.Contains(path, "watch") && !strings.HasPrefix(path, "/debug/pprof/") {
			quick = append(quick, path)
		}
	}
	work := make(chan string)
	var running sync.WaitGroup
	var asked, unsent atomic.Int64
	for range 8 {
		running.Go(func() {
			for path := range work {
				got, err := try(t.Context(), admin, request{url: w.server() + path})
				switch {
				case err != nil && !errors.Is(err, context.Canceled):
					unsent.Add(1) // not an address for Go's client
				case got.code >= 300 && got.code < 400 || got.header.Get("Location") != "":
					t.Errorf("%s: got %d to %q, want no redirect", path, got.code, got.header.Get("Location"))
				default:
					asked.Add(1)
				}
			}
		})
	}
	seed := rand.Uint64()
	random := rand.New(rand.NewPCG(seed, 0))
	for i := range count {
		if i < len(known) {
			work <- harmless(known[i])
			continue
		}
		work <- changed(random, quick[random.IntN(len(quick))])
	}
	close(work)
	running.Wait()
	if t.Failed() {
		t.Logf("seed %d", seed)
	}
	if asked.Load() < int64(count)*3/4 {
		t.Errorf("paths that were answered: got %d of %d, want most", asked.Load(), count)
	}
	t.Logf("%d paths, 0 redirects (%d could not be sent)", asked.Load(), unsent.Load())
}

// harmless keeps a request from taking half a minute.
func harmless(path string) string {
	path = strings.Replace(path, "watch=1", "watch=1&timeoutSeconds=1", 1)
	if strings.HasPrefix(path, "/debug/pprof/profile") || strings.HasPrefix(path, "/debug/pprof/trace") {
		return path + "?seconds=x"
	}
	if strings.Contains(path, "/watch/") {
		return path + "?timeoutSeconds=1"
	}
	return path
}

// changed is a path with one or two changes of the kind that routers redirect for.
func changed(random *rand.Rand, path string) string {
	pieces := []string{"/", "//", "/./", "/../", "/..%2f", "%2F", "%2e%2e", "\\", ".", "..", ";", "?", "??x", "#", "%00", "http://example.com",
		"//example.com", "@example.com", " ", "%0d%0aLocation:%20x", "A", "~", "apis", "index.html"}
	for range 1 + random.IntN(2) {
		at := random.IntN(len(path) + 1)
		piece := pieces[random.IntN(len(pieces))]
		switch random.IntN(3) {
		case 0:
			path += piece
		case 1:
			path = path[:at] + piece + path[at:]
		default:
			path = strings.TrimSuffix(path, "/") + "/"
		}
	}
	if !strings.HasPrefix(path, "/") {
		path = "/" + path
	}
	return path
}
