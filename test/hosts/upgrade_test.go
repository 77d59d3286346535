//go:build hosts

// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package hosts

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"statefulset.dev/test/harness"
)

// The host is upgraded, one version after the other as UPGRADE_TO names them, while our
// server and its sets run. No pod may notice. Whoever writes sets may only notice that the
// host's kube-apiserver is down while it is; see writer. Afterwards the host's mutating
// policies are applied, by the very process that found none.
func TestUpgradedHost(t *testing.T) {
	path := strings.Fields(os.Getenv("UPGRADE_TO"))
	if len(path) == 0 {
		t.Skip("UPGRADE_TO is not set: name versions of Kubernetes above the cluster's")
	}
	minor, whole := hostMinor(t)
	ns := suite.Namespace(t, "hosts")
	for name, replicas := range map[string]int32{"ordered": 3, "other": 2} {
		if _, err := suite.Sets.AppsV1().StatefulSets(ns).Create(t.Context(), harness.NewSet(name, replicas),
			metav1.CreateOptions{}); err != nil {
			t.Fatalf("creating set %s on %s: %v", name, whole, err)
		}
		waitReady(t, ns, name)
	}
	pods, pid := podsOf(t, ns), suite.Component(t, "statefulset-apiserver").PID
	w := startWriter(t, ns, "ordered")
	for _, version := range path {
		w.expectDown()
		if out, err := program(t, "cluster", "up", "--dir", suite.Dir, "--kubernetes", version); err != nil {
			t.Fatalf("upgrading from %s to %s: %v: %s", whole, version, err, out)
		}
		w.expectUp(t)
		_, whole = hostMinor(t)
		if got := podsOf(t, ns); !maps.Equal(got, pods) {
			t.Fatalf("pods after the upgrade to %s: got %v, want %v as before", whole, got, pods)
		}
	}
	if got := suite.Component(t, "statefulset-apiserver").PID; got != pid {
		t.Errorf("our server has process %d, want %d as before the upgrade", got, pid)
	}
	after, _ := hostMinor(t)
	if minor < policiesSince && after >= policiesSince {
		createPolicy(t)
		expectPolicyApplied(t)
	}
	w.stop(t)
	expectAtWork(t, ns)
	// What else was to happen to the other set's members would have happened by now.
	kept := podsOf(t, ns)
	maps.DeleteFunc(kept, func(name, _ string) bool { return !strings.HasPrefix(name, "other-") })
	for name, was := range kept {
		if was != pods[name] {
			t.Errorf("pod %s after everything: got %s, want %s as before", name, was, pods[name])
		}
	}
}

// podsOf tells, of each pod of a namespace, all by which a restart is seen.
func podsOf(t *testing.T, ns string) map[string]string {
	t.Helper()
	pods, err := suite.Host.CoreV1().Pods(ns).List(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatalf("listing the pods of %s: %v", ns, err)
	}
	seen := map[string]string{}
	for _, pod := range pods.Items {
		restarts := int32(0)
		for _, c := range pod.Status.ContainerStatuses {
			restarts += c.RestartCount
		}
		seen[pod.Name] = fmt.Sprintf("%s of %s, %s, %d restarts, deleted: %v", pod.UID, pod.CreationTimestamp.UTC().Format(time.RFC3339),
			pod.Status.Phase, restarts, pod.DeletionTimestamp != nil)
	}
	return seen
}

// expectAtWork changes a set, and waits for its members to follow.
func expectAtWork(t *testing.T, ns string) {
	t.Helper()
	before := slices.Sorted(maps.Keys(podsOf(t, ns)))
	patch, err := json.Marshal(map[string]any{"spec": map[string]any{
		"replicas": 4,
		"template": map[string]any{"metadata": map[string]any{"annotations": map[string]string{"changed": "yes"}}},
	}})
	if err != nil {
		t.Fatal(err)
	}
	harness.Eventually(t, "the set is changed", func(ctx context.Context) error {
		_, err := suite.Sets.AppsV1().StatefulSets(ns).Patch(ctx, "ordered", types.MergePatchType, patch, metav1.PatchOptions{})
		return err
	})
	waitReady(t, ns, "ordered")
	want := slices.Sorted(slices.Values(append([]string{"ordered-3"}, before...)))
	if got := slices.Sorted(maps.Keys(podsOf(t, ns))); !slices.Equal(got, want) {
		t.Errorf("pods after a change on the upgraded host: got %v, want %v", got, want)
	}
}
