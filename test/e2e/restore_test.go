//go:build e2e

// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"fmt"
	"maps"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// TestASetIsRestoredInTheOrderOfVelero copies claims, pods, the record of the revision and then the set into another
// namespace, without owners and status. The set takes over the pods that are there before it.
func TestASetIsRestoredInTheOrderOfVelero(t *testing.T) {
	t.Parallel()
	from, to := namespace(t), namespace(t)
	set := create(t, from, newSet("db", 3))
	waitReady(t, from, "db", 3)
	fresh := func(meta metav1.ObjectMeta) metav1.ObjectMeta {
		return metav1.ObjectMeta{Name: meta.Name, Labels: meta.Labels, Annotations: meta.Annotations}
	}
	for ordinal := range 3 {
		claim, err := suite.Host.CoreV1().PersistentVolumeClaims(from).Get(t.Context(), fmt.Sprintf("data-db-%d", ordinal), metav1.GetOptions{})
		if err != nil {
			t.Fatal(err)
		}
		claim = &corev1.PersistentVolumeClaim{ObjectMeta: fresh(claim.ObjectMeta), Spec: claim.Spec}
		claim.Annotations, claim.Spec.VolumeName = nil, ""
		if _, err := suite.Host.CoreV1().PersistentVolumeClaims(to).Create(t.Context(), claim, metav1.CreateOptions{}); err != nil {
			t.Fatalf("restoring claim %s: %v", claim.Name, err)
		}
	}
	claims, pods := claimUIDs(t, to), map[string]string{}
	for ordinal := range 3 {
		pod := getPod(t, from, fmt.Sprintf("db-%d", ordinal))
		pod = &corev1.Pod{ObjectMeta: fresh(pod.ObjectMeta), Spec: pod.Spec}
		pod.Spec.NodeName = ""
		restored, err := suite.Host.CoreV1().Pods(to).Create(t.Context(), pod, metav1.CreateOptions{})
		if err != nil {
			t.Fatalf("restoring pod %s: %v", pod.Name, err)
		}
		pods[pod.Name] = string(restored.UID)
	}
	for _, revision := range revisionsOf(t, from) {
		revision.ObjectMeta = fresh(revision.ObjectMeta)
		if _, err := suite.Host.AppsV1().ControllerRevisions(to).Create(t.Context(), &revision, metav1.CreateOptions{}); err != nil {
			t.Fatalf("restoring revision %s: %v", revision.Name, err)
		}
	}
	set.ObjectMeta = fresh(set.ObjectMeta)
	created := create(t, to, set)
	waitReady(t, to, "db", 3)
	for name, uid := range pods {
		pod := getPod(t, to, name)
		owner := metav1.GetControllerOf(pod)
		if string(pod.UID) != uid || owner == nil || owner.UID != created.UID {
			t.Errorf("pod %s: got UID %s, owner %v, want the restored pod %s, owned by set %s", name, pod.UID, owner, uid, created.UID)
		}
	}
	if got := claimUIDs(t, to); !maps.Equal(got, claims) {
		t.Errorf("claims: got %v, want those that were restored: %v", got, claims)
	}
	if got := revisionsOf(t, to); len(got) != 1 {
		t.Errorf("got %d revisions, want the one that was restored", len(got))
	}
}
