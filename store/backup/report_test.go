// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package backup

import (
	"context"
	"errors"
	"maps"
	"strings"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"
)

const reportNamespace = "statefulset-system"

// told is what the host cluster knows of copies, nil if nothing.
func told(t *testing.T, host *fake.Clientset) map[string]string {
	t.Helper()
	// The plugin looks for this name and these keys.
	found, err := host.CoreV1().ConfigMaps(reportNamespace).Get(t.Context(), "statefulset-apiserver-backups", metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return nil
	}
	if err != nil {
		t.Fatal(err)
	}
	return found.Data
}

// writes counts what was written to the host cluster, and forgets it.
func writes(host *fake.Clientset) (count int) {
	for _, action := range host.Actions() {
		if action.GetVerb() != "get" {
			count++
		}
	}
	host.ClearActions()
	return count
}

func TestWhatIsToldOfCopies(t *testing.T) {
	start := time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)
	host := fake.NewClientset()
	k := keeperOf(t, store(t))
	now := start
	k.Now = func() time.Time { return now }
	k.Publish = PublishTo(host.CoreV1().ConfigMaps(reportNamespace))
	s := newSchedule(k)
	expect := func(when string, wantWrites int, want map[string]string) {
		t.Helper()
		if got := told(t, host); !maps.Equal(got, want) {
			t.Errorf("%s: got %q, want %q", when, got, want)
		}
		if got := writes(host); got != wantWrites {
			t.Errorf("%s: got %d writes, want %d", when, got, wantWrites)
		}
	}
	s.sync(t.Context(), false)
	expect("a replica that does not lead", 0, nil)

	s.sync(t.Context(), true)
	first := map[string]string{"every": "1h0m0s", "verified": "2026-11-22T12:00:00Z", "name": there(t, k)[0]}
	expect("after a copy", 1, first)
	for range 100 {
		s.sync(t.Context(), true)
	}
	expect("while none is due", 0, first)

	whole := s.Place
	s.Place = &broken{Place: whole, put: errors.New(strings.Repeat("no room, ", 1000))}
	now = start.Add(time.Hour)
	s.sync(t.Context(), true)
	failed := maps.Clone(first)
	failed["failed"], failed["failure"] = "2026-11-22T13:00:00Z", told(t, host)["failure"]
	if got := failed["failure"]; len(got) != mostFailure || !strings.Contains(got, "no room, ") {
		t.Errorf("after an attempt that failed: got %d bytes, %.80q, want %d with the reason", len(got), got, mostFailure)
	}
	expect("after an attempt that failed, of the copy before", 1, failed)

	s.sync(t.Context(), false)
	s.Place = &broken{Place: whole, list: errors.New("403 Forbidden")}
	s.sync(t.Context(), true)
	unlisted := maps.Clone(failed)
	unlisted["failure"] = told(t, host)["failure"]
	if got := unlisted["failure"]; !strings.Contains(got, "403 Forbidden") {
		t.Errorf("a replica that begins to lead and cannot list: got %q, want the reason", got)
	}
	expect("a replica that begins to lead and cannot list keeps what another has told", 1, unlisted)

	s.Place = whole
	now = s.due
	s.sync(t.Context(), true)
	expect("after the next copy", 1, map[string]string{"every": "1h0m0s", "verified": now.UTC().Format(time.RFC3339), "name": there(t, k)[1]})

	again := told(t, host)
	s.sync(t.Context(), false)
	s.sync(t.Context(), true)
	expect("a replica that begins to lead with nothing new to tell", 0, again)
}

func TestWhatCannotBeToldIsToldLater(t *testing.T) {
	host := fake.NewClientset()
	refused := true
	host.PrependReactor("*", "configmaps", func(clienttesting.Action) (bool, runtime.Object, error) {
		return refused, nil, errors.New("the host is away")
	})
	now := time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)
	one := publisher{write: PublishTo(host.CoreV1().ConfigMaps(reportNamespace))}
	one.forget()
	report := Report{Every: time.Hour, Verified: now, Name: "sets"}
	asked := func() int { count := len(host.Actions()); host.ClearActions(); return count }
	for attempt := range 10 {
		one.publish(t.Context(), now, report)
		if got := asked(); got != 1 {
			t.Fatalf("attempt %d: got %d requests, want 1", attempt, got)
		}
		one.publish(t.Context(), one.due.Add(-time.Millisecond), report)
		if got := asked(); got != 0 {
			t.Errorf("before the next attempt: got %d requests, want none", got)
		}
		if delay := one.due.Sub(now); delay > longestPublishRetry*5/4 || attempt > 8 && delay < longestPublishRetry/2 {
			t.Errorf("attempt %d: the next one is %s later, want up to about %s", attempt, delay, longestPublishRetry)
		}
		now = one.due
	}
	refused = false
	one.publish(t.Context(), now, report)
	if got := told(t, host)["name"]; got != "sets" {
		t.Errorf("when the host is back: got %q, want the report", got)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	refused = true
	one.publish(ctx, now, Report{})
	if !one.due.IsZero() {
		t.Errorf("at the end of the replica: got another attempt at %s, want none", one.due)
	}
}
