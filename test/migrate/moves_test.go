//go:build migrate

// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package migrate

import (
	"context"
	"fmt"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"statefulset.dev/identity"
	"statefulset.dev/test/harness"
)

const (
	theirVersion = "apps/v1"
	ourVersion   = "apps.statefulset.dev/v1"
)

func TestASetIsMovedThereAndBackWith(t *testing.T) {
	for sentence, prepare := range states() {
		t.Run(sentence, func(t *testing.T) {
			t.Parallel()
			ns := namespace(t)
			prepare(t, ns)
			before, revisions := look(t, ns), theirRevisions(t, ns)

			t.Log(migrate(t, ns, "web"))
			expectSame(t, "after the move", before, look(t, ns))
			expectOwner(t, "after the move", ns, ourVersion, revisions)

			t.Log(migrate(t, ns, "web", "--back"))
			expectSame(t, "after the move back", before, look(t, ns))
			expectOwner(t, "after the move back", ns, theirVersion, revisions)
		})
	}
}

func TestWhatWasUnderWayGoesOn(t *testing.T) {
	t.Run("a stuck update completes when it is corrected", func(t *testing.T) {
		t.Parallel()
		ns := namespace(t)
		stuck(t, ns)
		migrate(t, ns, "web")
		patchOurs(t, ns, `{"spec":{"template":{"spec":{"nodeSelector":null}}}}`)
		if err := suite.Host.CoreV1().Pods(ns).Delete(t.Context(), "web-4", metav1.DeleteOptions{}); err != nil {
			t.Fatalf("deleting the stuck pod: %v", err)
		}
		waitOursReady(t, ns, 5, 5)
	})
	t.Run("a lost member below the partition comes back at the old revision", func(t *testing.T) {
		t.Parallel()
		for _, back := range []bool{false, true} {
			ns := namespace(t)
			partitioned(t, ns)
			revisions := theirRevisions(t, ns)
			migrate(t, ns, "web")
			if back {
				migrate(t, ns, "web", "--back")
			}
			if err := suite.Host.CoreV1().Pods(ns).Delete(t.Context(), "web-0", metav1.DeleteOptions{}); err != nil {
				t.Fatalf("deleting a pod: %v", err)
			}
			waitRevisionOf(t, ns, "web-0", revisions[0])
		}
	})
	t.Run("a paused update takes nobody when it has gone back", func(t *testing.T) {
		t.Parallel()
		ns := namespace(t)
		create(t, ns, web(3))
		waitReady(t, ns, 3, 3)
		migrate(t, ns, "web")
		patchOurs(t, ns,
			`{"spec":{"updateStrategy":{"rollingUpdate":{"paused":true}},"template":{"spec":{"containers":[{"name":"main","image":"example.test/main:2"}]}}}}`)
		waitOursReady(t, ns, 3, 0)
		before := look(t, ns)
		migrate(t, ns, "web", "--back", "--drop-extra-fields")
		waitReady(t, ns, 3, 0)
		expectSame(t, "after the move back", before, look(t, ns))
	})
}

// waitRevisionOf waits until the pod exists, does not terminate, and runs the revision.
func waitRevisionOf(t *testing.T, ns, name, revision string) {
	t.Helper()
	harness.Eventually(t, fmt.Sprintf("pod %s runs revision %s", name, revision), func(ctx context.Context) error {
		pod, err := suite.Host.CoreV1().Pods(ns).Get(ctx, name, metav1.GetOptions{})
		if err != nil {
			return err
		}
		if got := pod.Labels[identity.RevisionLabel]; pod.DeletionTimestamp != nil || got != revision {
			return fmt.Errorf("it runs %s, terminating: %v", got, pod.DeletionTimestamp)
		}
		return nil
	})
}

func waitOursReady(t *testing.T, ns string, ready, updated int32) {
	t.Helper()
	harness.Eventually(t, fmt.Sprintf("%d members of our set are ready and %d updated", ready, updated), func(ctx context.Context) error {
		set, err := suite.Sets.AppsV1().StatefulSets(ns).Get(ctx, "web", metav1.GetOptions{})
		if err != nil {
			return err
		}
		if set.Status.ObservedGeneration != set.Generation || set.Status.ReadyReplicas != ready || set.Status.UpdatedReplicas != updated {
			return fmt.Errorf("generation %d, status %+v", set.Generation, set.Status)
		}
		return nil
	})
}

func TestAllSelectedSetsAreMoved(t *testing.T) {
	t.Parallel()
	ns := namespace(t)
	for _, name := range []string{"one", "two"} {
		set := web(1)
		set.Name = name
		set.Spec.Selector.MatchLabels["set"], set.Spec.Template.Labels["set"] = name, name
		create(t, ns, set)
	}
	if out := migrate(t, ns, "-l", "app=web", "--dry-run"); !strings.Contains(out, "one: would 1.") ||
		!strings.Contains(out, "two: would 1.") {
		t.Errorf("--dry-run printed\n%s\nwant the steps of both sets", out)
	}
	migrate(t, ns, "-l", "app=web")
	for _, name := range []string{"one", "two"} {
		if _, err := suite.Sets.AppsV1().StatefulSets(ns).Get(t.Context(), name, metav1.GetOptions{}); err != nil {
			t.Errorf("getting set %s: %v, want it to be moved", name, err)
		}
	}
}
