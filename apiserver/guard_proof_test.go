// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package apiserver

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"sync/atomic"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"

	"statefulset.dev/apiserver/storage"
	"statefulset.dev/client/clientset/versioned"
)

// Many who ask at the same time cost few reads.
func TestQuestionsAreAskedTogether(t *testing.T) {
	host := newGuardedHost(t)
	var reads atomic.Int64
	var guard *guard
	held := make(chan struct{})
	choose, configure := host.guarded(t, nil)
	s := startServerWith(t, choose, configure, func(c *Config) { guard = c.guard })
	set := s.create(t, web("web"))
	version, err := strconv.ParseInt(set.ResourceVersion, 10, 64)
	if err != nil {
		t.Fatalf("reading the version: %v", err)
	}
	many := &prover{ask: func(ctx context.Context, batch []*asked) error {
		reads.Add(1)
		<-held
		return guard.askAll(ctx, batch)
	}}
	key := storage.Prefix + "/apps.statefulset.dev/statefulsets/" + namespace + "/web"
	const askers = 1000
	answers := make(chan error, askers)
	for i := range askers {
		go func() {
			_, err := many.prove(t.Context(), question{claims: []claim{{key: key, version: version + int64(i%2)}}})
			answers <- err
		}()
	}
	s.eventually(t, "all wait", func(context.Context) error {
		many.mu.Lock()
		defer many.mu.Unlock()
		if got := len(many.waiting); got < askers-mostClaims {
			return fmt.Errorf("waiting: got %d", got)
		}
		return nil
	})
	close(held)
	wrong := 0
	for range askers {
		switch err := <-answers; {
		case errors.Is(err, errNotThere):
			wrong++
		case err != nil:
			t.Fatalf("asking: %v", err)
		}
	}
	if wrong != askers/2 {
		t.Errorf("claims that were refuted: got %d, want %d", wrong, askers/2)
	}
	if got, most := reads.Load(), int64(askers/mostClaims+3); got > most {
		t.Errorf("reads for %d questions: got %d, want at most %d", askers, got, most)
	}
}

// BenchmarkGet compares a server that proves what it answers with one that does not.
func BenchmarkGet(b *testing.B) {
	for name, guarded := range map[string]bool{"proven": true, "not proven": false} {
		b.Run(name, func(b *testing.B) {
			var configure []func(*Config)
			choose := func(*Options) {}
			if guarded {
				var guard func(*Config)
				choose, guard = newGuardedHost(b).guarded(b, nil)
				configure = append(configure, guard)
			}
			s := startServerWith(b, choose, configure...)
			s.create(b, web("web"))
			config := rest.CopyConfig(s.loopback)
			config.QPS = -1
			sets, err := versioned.NewForConfig(config)
			if err != nil {
				b.Fatalf("creating a client: %v", err)
			}
			b.ResetTimer()
			b.RunParallel(func(loop *testing.PB) {
				for loop.Next() {
					if _, err := sets.AppsV1().StatefulSets(namespace).Get(b.Context(), "web", metav1.GetOptions{}); err != nil {
						b.Errorf("get: %v", err)
					}
				}
			})
		})
	}
}
