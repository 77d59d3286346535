//go:build hosts

// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package hosts

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"statefulset.dev/test/harness"
)

const (
	writeEvery   = 100 * time.Millisecond
	writeTimeout = 10 * time.Second
)

// writer writes sets all the time: it annotates one, and creates and deletes others.
//
// A write that begins while the host's kube-apiserver is up must succeed. From the moment
// that it is told to stop until it answers writes again, a write may find no connection,
// lose it, or be answered 503, which is what clients try again by themselves. Nothing may
// ever be refused with another answer.
type writer struct {
	cancel context.CancelFunc
	done   chan struct{}

	mu    sync.Mutex
	down  bool
	begun int // counts writes
	good  int
	lost  int // while it was down
	bad   []string
}

func startWriter(t *testing.T, ns, set string) *writer {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	w := &writer{cancel: cancel, done: make(chan struct{})}
	t.Cleanup(cancel)
	go func() {
		defer close(w.done)
		ticker := time.NewTicker(writeEvery)
		defer ticker.Stop()
		for n := 0; ; n++ {
			select {
			case <-ctx.Done():
				return
			case <-ticker.C:
				w.write(ctx, ns, set, n)
			}
		}
	}()
	return w
}

func (w *writer) write(ctx context.Context, ns, set string, n int) {
	limited, cancel := context.WithTimeout(ctx, writeTimeout)
	defer cancel()
	sets := suite.Sets.AppsV1().StatefulSets(ns)
	what, err := "patch", error(nil)
	excused := w.isDown()
	switch name := fmt.Sprintf("made-%d", n/3); n % 3 {
	case 0:
		what = "create " + name
		_, err = sets.Create(limited, harness.NewSet(name, 0), metav1.CreateOptions{})
		if apierrors.IsAlreadyExists(err) { // by the attempt that lost its connection
			err = nil
		}
	case 1:
		patch := fmt.Appendf(nil, `{"metadata":{"annotations":{"count":"%d"}}}`, n)
		_, err = sets.Patch(limited, set, types.MergePatchType, patch, metav1.PatchOptions{})
	default:
		what = "delete " + name
		if err = sets.Delete(limited, name, metav1.DeleteOptions{}); apierrors.IsNotFound(err) {
			err = nil
		}
	}
	if ctx.Err() != nil {
		return
	}
	w.note(what, err, excused || w.isDown())
}

func (w *writer) note(what string, err error, excused bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.begun++
	switch {
	case err == nil:
		w.good++
	case excused && isOutage(err):
		w.lost++
	default:
		w.bad = append(w.bad, fmt.Sprintf("%s %s (host down: %v): %v", time.Now().UTC().Format("15:04:05.000"), what, excused, err))
	}
}

// isOutage says whether a write found nobody, rather than somebody who refused it.
func isOutage(err error) bool {
	var status apierrors.APIStatus
	if errors.As(err, &status) {
		return status.Status().Code == http.StatusServiceUnavailable
	}
	return true // there was no answer
}

func (w *writer) isDown() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.down
}

func (w *writer) expectDown() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.down = true
}

// expectUp waits until writes succeed again, three in a row, and wants all to from then on.
func (w *writer) expectUp(t *testing.T) {
	t.Helper()
	w.mu.Lock()
	good, lost := w.good, w.lost
	w.mu.Unlock()
	harness.Eventually(t, "writes succeed again", func(context.Context) error {
		w.mu.Lock()
		defer w.mu.Unlock()
		if w.lost != lost {
			good, lost = w.good, w.lost
		}
		if w.good < good+3 {
			return fmt.Errorf("%d writes have succeeded since the last that did not", w.good-good)
		}
		w.down = false
		return nil
	})
}

func (w *writer) stop(t *testing.T) {
	t.Helper()
	w.cancel()
	<-w.done
	t.Logf("of %d writes, %d succeeded, %d met the host's kube-apiserver while it was down", w.begun, w.good, w.lost)
	for i, bad := range w.bad {
		if i == 20 {
			t.Errorf("and %d more", len(w.bad)-i)
			break
		}
		t.Errorf("a write was refused: %s", bad)
	}
	if w.good < 30 {
		t.Errorf("got %d writes that succeeded, want at least 30: the test has not seen enough", w.good)
	}
}
