// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package servertest

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"statefulset.dev/apiserver"
)

// floodRate is how many anonymous callers ask how the server is, in a second.
const floodRate = 1000

// floodLength is two seconds, or what FLOOD says: FLOOD=1m.
func floodLength(t *testing.T) time.Duration {
	t.Helper()
	given := os.Getenv("FLOOD")
	if given == "" {
		return 2 * time.Second
	}
	length, err := time.ParseDuration(given)
	if err != nil {
		t.Fatalf("FLOOD is %q: %v; give a duration such as 1m", given, err)
	}
	return length
}

func TestAnAnonymousFloodOfReadyzCostsTheHostNothing(t *testing.T) {
	var asked atomic.Int64
	host := HostAt(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/readyz" {
			asked.Add(1)
		}
		fmt.Fprint(w, "ok")
	})
	s := Start(t, func(c *apiserver.Config) { c.HostReady = host.Ready })
	before, begun := asked.Load(), time.Now()
	answers := flood(s.Anonymous(t), s.Loopback.Host+"/readyz", floodLength(t))
	took := time.Since(begun)
	questions := asked.Load() - before

	t.Logf("%d anonymous requests in %s: %v; the host was asked %d times", floodRate*int(floodLength(t)/time.Second),
		took.Round(time.Millisecond), answers, questions)
	if len(answers) != 1 || answers["200 ok"] == 0 {
		t.Errorf("answers: got %v, want 200 ok only", answers)
	}
	if most := int64(took/time.Second) + 1; questions > most {
		t.Errorf("questions to the host in %s: got %d, want at most one a second, that is %d", took, questions, most)
	}
}

// flood sends requests at floodRate from some connections, and counts the answers.
func flood(client *http.Client, url string, length time.Duration) map[string]int {
	const callers = 20
	var mu sync.Mutex
	answers := map[string]int{}
	requests := make(chan struct{}, floodRate)
	var calling sync.WaitGroup
	for range callers {
		calling.Go(func() {
			for range requests {
				answer := ask(client, url)
				mu.Lock()
				answers[answer]++
				mu.Unlock()
			}
		})
	}
	const ticks = 100 // a second
	ticker := time.NewTicker(time.Second / ticks)
	defer ticker.Stop()
	for range int(length.Seconds() * ticks) {
		<-ticker.C
		for range floodRate / ticks {
			requests <- struct{}{}
		}
	}
	close(requests)
	calling.Wait()
	return answers
}

func ask(client *http.Client, url string) string {
	req, err := http.NewRequestWithContext(context.Background(), http.MethodGet, url, http.NoBody)
	if err != nil {
		return err.Error()
	}
	return AnswerTo(client, req)
}

func TestAHostThatIsLostAndFoundIsNoticed(t *testing.T) {
	var lost atomic.Bool
	host := HostAt(t, func(w http.ResponseWriter, _ *http.Request) {
		if lost.Load() {
			http.Error(w, "etcd failed", http.StatusInternalServerError)
			return
		}
		fmt.Fprint(w, "ok")
	})
	s := Start(t, func(c *apiserver.Config) { c.HostReady = host.Ready })
	lost.Store(true)
	s.Eventually(t, "the server is not ready", func(ctx context.Context) error {
		if s.Ready(ctx) == nil {
			return fmt.Errorf("/readyz: got ok, want it to fail: the host is lost")
		}
		return nil
	})
	if err := s.Clients.Discovery().RESTClient().Get().AbsPath("/livez").Do(t.Context()).Error(); err != nil {
		t.Errorf("/livez: got %v, want no error: a restart helps nobody", err)
	}
	lost.Store(false)
	s.Eventually(t, "the server is ready again", s.Ready)
}
