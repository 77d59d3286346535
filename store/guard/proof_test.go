// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package guard

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/kubernetes/fake"
	metadatafake "k8s.io/client-go/metadata/fake"

	"statefulset.dev/store/dependents"
	"statefulset.dev/test/harness/etcd"
)

// Many who ask at the same time cost few reads.
func TestQuestionsAreAskedTogether(t *testing.T) {
	etcd := etcd.StartClient(t)
	guard := New(Config{
		Etcd: etcd, Prefix: "/registry", Notes: fake.NewClientset().CoreV1().ConfigMaps("a"),
		Host:   metadatafake.NewSimpleMetadataClient(metadatafake.NewTestScheme()),
		Stored: func(context.Context) (map[dependents.SetID]bool, error) { return nil, nil },
		End:    func(err error) { t.Errorf("the process was told to end: %v", err) },
	})
	stop := guard.Start(t.Context())
	defer stop()
	const key = "/registry/sets/web"
	put, err := etcd.Put(t.Context(), key, "")
	if err != nil {
		t.Fatalf("writing: %v", err)
	}
	version := put.Header.Revision
	select {
	case <-guard.right:
	case <-time.After(longEnough):
		t.Fatalf("the store was not found to be right within %s: %v", longEnough, guard.Check())
	}
	var reads atomic.Int64
	held := make(chan struct{})
	many := &prover{ask: func(ctx context.Context, batch []*asked) error {
		reads.Add(1)
		<-held
		return guard.askAll(ctx, batch)
	}}
	const askers = 1000
	answers := make(chan error, askers)
	for i := range askers {
		go func() {
			_, err := many.prove(t.Context(), question{assertions: []keyAssertion{{key: key, version: version + int64(i%2)}}})
			answers <- err
		}()
	}
	waiting := func(ctx context.Context) (bool, error) {
		many.mu.Lock()
		defer many.mu.Unlock()
		return len(many.waiting) >= askers-maxAssertions, nil
	}
	if err := wait.PollUntilContextTimeout(t.Context(), 20*time.Millisecond, longEnough, true, waiting); err != nil {
		t.Fatalf("waiting until all wait: %v", err)
	}
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
	if got, most := reads.Load(), int64(askers/maxAssertions+3); got > most {
		t.Errorf("reads for %d questions: got %d, want at most %d", askers, got, most)
	}
}

// longEnough bounds every wait.
const longEnough = 60 * time.Second
