//go:build e2e

// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"context"
	"fmt"
	"os"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "statefulset.dev/api/apps/v1"
	"statefulset.dev/test/harness"
)

const kind = "statefulsets.apps.statefulset.dev"

// example is the manifest that the demo applies, without the ten seconds that it
// gives every member to prove itself.
func example(t *testing.T) string {
	t.Helper()
	content, err := os.ReadFile("../../artifacts/examples/web.yaml")
	if err != nil {
		t.Fatalf("reading the example: %v", err)
	}
	return string(content)
}

// newSet is a set with the given number of members that each have one claim.
func newSet(name string, replicas int32) *v1.StatefulSet {
	set := harness.WithClaim(harness.NewSet(name, replicas))
	set.Spec.ServiceName = name
	return set
}

func create(t *testing.T, ns string, set *v1.StatefulSet) *v1.StatefulSet {
	t.Helper()
	created, err := suite.Sets.AppsV1().StatefulSets(ns).Create(t.Context(), set, metav1.CreateOptions{})
	if err != nil {
		t.Fatalf("creating set %s: %v", set.Name, err)
	}
	return created
}

// waitReady waits until the set says of its present generation that it is ready
// with that many members, and returns it.
func waitReady(t *testing.T, ns, name string, replicas int32) *v1.StatefulSet {
	t.Helper()
	var set *v1.StatefulSet
	harness.Eventually(t, fmt.Sprintf("set %s is ready with %d members", name, replicas), func(ctx context.Context) (err error) {
		set, err = suite.Sets.AppsV1().StatefulSets(ns).Get(ctx, name, metav1.GetOptions{})
		if err != nil {
			return err
		}
		ready := conditionOf(set, v1.StatefulSetReady)
		if set.Status.ObservedGeneration != set.Generation || set.Status.ReadyReplicas != replicas || set.Status.Replicas != replicas ||
			ready == nil || ready.Status != corev1.ConditionTrue {
			return fmt.Errorf("generation %d, status %+v", set.Generation, set.Status)
		}
		return nil
	})
	return set
}

// waitUpdated waits until set db, of three members, is ready and the record of its update has gone from the status, which
// is in the look after the one that finds the set ready.
func waitUpdated(t *testing.T, ns string) {
	t.Helper()
	const name = "db"
	waitReady(t, ns, name, 3)
	harness.Eventually(t, "the update of set "+name+" is over", func(ctx context.Context) error {
		set, err := suite.Sets.AppsV1().StatefulSets(ns).Get(ctx, name, metav1.GetOptions{})
		if err != nil {
			return err
		}
		if set.Status.Rollout != nil || set.Status.CurrentRevision != set.Status.UpdateRevision {
			return fmt.Errorf("status.rollout is %v and the current revision %s, want none and %s", set.Status.Rollout, set.Status.CurrentRevision,
				set.Status.UpdateRevision)
		}
		return nil
	})
}

// waitBound waits until claims are bound and have a size: KWOK runs a pod before its claims are, and the
// host lets nobody change one until then.
func waitBound(t *testing.T, ns string, claims ...string) {
	t.Helper()
	for _, claim := range claims {
		harness.Eventually(t, "claim "+claim+" is bound", func(ctx context.Context) error {
			got, err := suite.Host.CoreV1().PersistentVolumeClaims(ns).Get(ctx, claim, metav1.GetOptions{})
			if err == nil && (got.Status.Phase != corev1.ClaimBound || got.Status.Capacity.Storage().IsZero()) {
				err = fmt.Errorf("it is %s with %s", got.Status.Phase, got.Status.Capacity.Storage())
			}
			return err
		})
	}
}

func conditionOf(set *v1.StatefulSet, kind v1.StatefulSetConditionType) *v1.StatefulSetCondition {
	for i := range set.Status.Conditions {
		if set.Status.Conditions[i].Type == kind {
			return &set.Status.Conditions[i]
		}
	}
	return nil
}

func getPod(t *testing.T, ns, name string) *corev1.Pod {
	t.Helper()
	pod, err := suite.Host.CoreV1().Pods(ns).Get(t.Context(), name, metav1.GetOptions{})
	if err != nil {
		t.Fatalf("getting pod %s: %v", name, err)
	}
	return pod
}

// claimUIDs are the UIDs of all claims of a namespace by their names.
func claimUIDs(t *testing.T, ns string) map[string]string {
	t.Helper()
	claims, err := suite.Host.CoreV1().PersistentVolumeClaims(ns).List(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatalf("listing claims: %v", err)
	}
	uids := map[string]string{}
	for _, claim := range claims.Items {
		uids[claim.Name] = string(claim.UID)
	}
	return uids
}

func revisionsOf(t *testing.T, ns string) []appsv1.ControllerRevision {
	t.Helper()
	revisions, err := suite.Host.AppsV1().ControllerRevisions(ns).List(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatalf("listing revisions: %v", err)
	}
	return revisions.Items
}
