//go:build nodes

// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package nodes

import (
	"context"
	"fmt"
	"maps"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"statefulset.dev/test/harness"
)

// TestDisksArePrimedOnce has Jobs and init containers prepare the disks of members, and looks that nothing is
// done twice when a member is restarted, and when it leaves and comes back.
func TestDisksArePrimedOnce(t *testing.T) {
	forOurs(t, "disks are primed by an init container and by a Job, once, and a pod waits until a Job has succeeded",
		func(t *testing.T, k kind) {
			e := newExample(t, "db", "jobs")
			e.apply(t, "priming.yaml")
			e.awaitReady(t, 2)
			jobs := e.kept(t, "jobs")
			if len(jobs) != 4 {
				t.Errorf("the set has made %v, want two Jobs for each of two members", jobs)
			}
			e.expectStarts(t, 1, 1)
			announced, err := cluster.Host.BatchV1().Jobs(e.ns).Get(t.Context(), "db-1-announce", metav1.GetOptions{})
			if err != nil || announced.Status.CompletionTime == nil {
				t.Fatalf("the Job that announces member 1: got %v, %v, want one that is complete", announced, err)
			}
			if pod := e.pod(t, 1); pod.CreationTimestamp.Before(announced.Status.CompletionTime) {
				t.Errorf("the pod of member 1 was created at %s, before its Job was complete at %s", pod.CreationTimestamp,
					announced.Status.CompletionTime)
			}

			// What would be written once more would be another text.
			if _, err := e.run(t.Context(), 1, "sh", "-c", "echo 1, kept > /data/myid; echo kept > /data/seed; kill 1"); err != nil {
				t.Fatal(err)
			}
			harness.Eventually(t, "the container of member 1 has started again", func(ctx context.Context) error {
				return e.started(ctx, 1, 2)
			})
			e.scale(t, 1)
			e.scale(t, 2)
			harness.Eventually(t, "member 1 has come back to its disk", func(ctx context.Context) error {
				return e.started(ctx, 1, 3)
			})
			if got, err := e.run(t.Context(), 1, "sh", "-c", "tail -n 1 /data/starts"); err != nil || got != "1, kept, kept" {
				t.Errorf("on the disk of member 1: got %q, %v, want what was there before it left", got, err)
			}
			if now := e.kept(t, "jobs"); !maps.Equal(now, jobs) {
				t.Errorf("after member 1 left and came back the Jobs are %v, want %v", now, jobs)
			}
		})
}

// expectStarts wants a disk that was primed for its member before each of its starts.
func (e *exampleSet) expectStarts(t *testing.T, ordinal, starts int) {
	t.Helper()
	if err := e.started(t.Context(), ordinal, starts); err != nil {
		t.Error(err)
	}
	want := fmt.Sprintf("%d, seed of db-%d", ordinal, ordinal)
	if got, err := e.run(t.Context(), ordinal, "sh", "-c", "tail -n 1 /data/starts"); err != nil || got != want {
		t.Errorf("on the disk of member %d: got %q, %v, want %q", ordinal, got, err, want)
	}
}

// started wants a member to have been started so many times on its disk.
func (e *exampleSet) started(ctx context.Context, ordinal, want int) error {
	got, err := e.run(ctx, ordinal, "sh", "-c", "wc -l < /data/starts")
	if err == nil && got != fmt.Sprint(want) {
		err = fmt.Errorf("member %d was started %s times on its disk, want %d", ordinal, got, want)
	}
	return err
}
