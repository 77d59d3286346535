//go:build faults

// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package guard

import (
	"context"
	"fmt"
	"maps"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"statefulset.dev/client/clientset/versioned"
	"statefulset.dev/test/faults/internal/row"
	"statefulset.dev/test/harness"
)

const apiService = "v1.apps.statefulset.dev"

// members are the pods and claims of one set, and the objects that it describes.
type members struct {
	*harness.Members
	w *world
}

// settle creates a set and waits until its members, their claims and their objects are complete.
func (w *world) settle(t *testing.T, ns, name string, replicas int32) *members {
	t.Helper()
	m := &members{Members: w.Settle(t, ns, name, replicas), w: w}
	m.describe(t)
	return m
}

// mustStay watches the members for a while, and reports a violation for each look
// at which they are not all the same. Meanwhile our API is asked for the set over
// and over: it may fail, and it may not say that the set is not there.
//
// That the garbage collector is at work is shown by an object of its own whose
// owner does not exist: the wait lasts until that one is gone, too.
func (m *members) mustStay(t *testing.T, during string, duration time.Duration) {
	t.Helper()
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	var denied atomic.Int64
	var asking sync.WaitGroup
	for _, client := range []versioned.Interface{m.w.Sets, m.w.direct} {
		asking.Go(func() { denied.Add(m.askUntil(ctx, t, client)) })
	}
	taken := m.Bait(t)
	violations := 0
	begun := time.Now()
	for eaten := false; !eaten || time.Since(begun) < duration; {
		if now, err := m.Present(ctx); err == nil && !maps.Equal(now, m.UIDs) {
			violations++
			t.Errorf("%s: members after %s: got %v, want %v", during, time.Since(begun).Round(time.Second), now, m.UIDs)
		}
		if taken(ctx) {
			eaten = true
		}
		if violations > 0 || time.Since(begun) > duration+harness.Patience {
			if !eaten {
				t.Errorf("%s: the garbage collector has not deleted an object without owner within %s", during, time.Since(begun))
			}
			break
		}
		time.Sleep(500 * time.Millisecond) // between two looks; the verdict does not depend on it
	}
	stop()
	asking.Wait()
	if n := denied.Load(); n > 0 {
		violations++
		t.Errorf("%s: our API said %d times that the set does not exist, want never", during, n)
	}
	row.Report(t, row.Row{
		Fault: "damaged, empty or older store", Side: "ours", Where: "real", Runs: 1, Violations: violations,
		Detail: "no pod, claim or set was lost while the garbage collector was at work",
	})
}

// askUntil counts how often our API says that the set is not there.
func (m *members) askUntil(ctx context.Context, t *testing.T, client versioned.Interface) (denied int64) {
	for ctx.Err() == nil {
		sets := client.AppsV1().StatefulSets(m.Namespace)
		if got, err := sets.Get(ctx, m.Set.Name, metav1.GetOptions{}); saysGone(err, m.Set.Name) || err == nil && got.UID != m.Set.UID {
			t.Logf("get: %v, %v", got, err)
			denied++
		}
		if list, err := sets.List(ctx, metav1.ListOptions{}); err == nil && len(list.Items) == 0 {
			t.Log("list: empty")
			denied++
		}
		select {
		case <-ctx.Done():
		case <-time.After(50 * time.Millisecond):
		}
	}
	return denied
}

// saysGone reports whether our API says that the set does not exist. Without an
// APIService it is the host that says so of the whole API, in other words.
func saysGone(err error, name string) bool {
	return apierrors.IsNotFound(err) && strings.Contains(err.Error(), fmt.Sprintf("%q not found", name))
}

// mustGo waits until the garbage collector has taken all members.
func (m *members) mustGo(t *testing.T) {
	t.Helper()
	harness.Eventually(t, "the members of "+m.Set.Name+" are deleted", func(ctx context.Context) error {
		now, err := m.Present(ctx)
		if err == nil && len(now) > 0 {
			return fmt.Errorf("still there: %v", now)
		}
		return err
	})
}
