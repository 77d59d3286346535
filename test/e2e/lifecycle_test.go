//go:build e2e

// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"statefulset.dev/test/harness"
)

// TestLifeOfTheExample walks through what the demo shows, and compares every step.
func TestLifeOfTheExample(t *testing.T) {
	t.Parallel()
	ns := namespace(t)
	pods := watchPods(t, ns)

	kubectlApply(t, strings.Replace(example(t), "minReadySeconds: 10", "minReadySeconds: 1", 1), "-n", ns)
	pods.expect(t, 0, "added web-0", "added web-1", "added web-2")
	set := waitReady(t, ns, "web", 3)
	if set.Status.AvailableReplicas != 3 || set.Status.UpdatedReplicas != 3 || set.Status.CurrentRevision != set.Status.UpdateRevision {
		t.Errorf("status of the finished set is %+v, want 3 available and updated at one revision", set.Status)
	}
	for ordinal := range 3 {
		expectMember(t, ns, ordinal, set.Status.UpdateRevision)
	}

	mark := pods.mark()
	kubectl(t, "scale", kind, "web", "-n", ns, "--replicas=5")
	pods.expect(t, mark, "added web-3", "added web-4")
	waitReady(t, ns, "web", 5)
	claims := claimUIDs(t, ns)
	if want := []string{
		"www-web-0", "www-web-1", "www-web-2", "www-web-3", "www-web-4"}; !slices.Equal(slices.Sorted(maps.Keys(claims)), want) {
		t.Errorf("claims are %v, want %v", claims, want)
	}

	mark = pods.mark()
	kubectl(t, "patch", kind, "web", "-n", ns, "-p",
		`{"spec":{"template":{"spec":{"containers":[{"name":"nginx","image":"registry.k8s.io/nginx-slim:0.25"}]}}}}`)
	pods.expect(t, mark, "deleted web-4", "added web-4", "deleted web-3", "added web-3", "deleted web-2", "added web-2",
		"deleted web-1", "added web-1", "deleted web-0", "added web-0")
	set = waitReady(t, ns, "web", 5)
	for ordinal := range 5 {
		expectMember(t, ns, ordinal, set.Status.UpdateRevision)
	}
	if after := claimUIDs(t, ns); !maps.Equal(claims, after) {
		t.Errorf("the update changed the claims from %v to %v", claims, after)
	}

	mark = pods.mark()
	kubectl(t, "scale", kind, "web", "-n", ns, "--replicas=2")
	pods.expect(t, mark, "deleted web-4", "deleted web-3", "deleted web-2")
	waitReady(t, ns, "web", 2)
	if after := claimUIDs(t, ns); !maps.Equal(claims, after) {
		t.Errorf("the scale-down changed the claims from %v to %v", claims, after)
	}
}

// expectMember checks the name, the address and the disk of a member.
func expectMember(t *testing.T, ns string, ordinal int, revision string) {
	t.Helper()
	name, claim := fmt.Sprintf("web-%d", ordinal), fmt.Sprintf("www-web-%d", ordinal)
	pod := getPod(t, ns, name)
	for what, pair := range map[string][2]string{
		"hostname":       {pod.Spec.Hostname, name},
		"subdomain":      {pod.Spec.Subdomain, "nginx"},
		"revision label": {pod.Labels["controller-revision-hash"], revision},
		"name label":     {pod.Labels["statefulset.kubernetes.io/pod-name"], name},
		"index label":    {pod.Labels["apps.kubernetes.io/pod-index"], fmt.Sprint(ordinal)},
		"claim":          {pod.Spec.Volumes[0].PersistentVolumeClaim.ClaimName, claim},
		"volume":         {pod.Spec.Volumes[0].Name, "www"},
	} {
		if pair[0] != pair[1] {
			t.Errorf("%s of pod %s is %q, want %q", what, name, pair[0], pair[1])
		}
	}
	owner := metav1.GetControllerOf(pod)
	if owner == nil || owner.APIVersion != "apps.statefulset.dev/v1" || owner.Kind != "StatefulSet" || owner.Name != "web" {
		t.Errorf("controller of pod %s is %v, want StatefulSet web of apps.statefulset.dev/v1", name, owner)
	}
	waitBound(t, ns, claim)
}

// TestDeletedAndFailedPods checks that a member comes back under its name and with
// its claim, as another pod.
func TestDeletedAndFailedPods(t *testing.T) {
	t.Parallel()
	ns := namespace(t)
	create(t, ns, newSet("db", 2))
	waitReady(t, ns, "db", 2)
	claims := claimUIDs(t, ns)

	for _, lose := range []struct {
		how string
		do  func(pod *corev1.Pod) error
	}{
		{"a pod that a user deletes", func(pod *corev1.Pod) error {
			return suite.Host.CoreV1().Pods(ns).Delete(t.Context(), pod.Name, metav1.DeleteOptions{})
		}},
		{"a pod that fails", func(pod *corev1.Pod) error {
			pod.Status.Phase, pod.Status.Reason = corev1.PodFailed, "Evicted"
			_, err := suite.Host.CoreV1().Pods(ns).UpdateStatus(t.Context(), pod, metav1.UpdateOptions{})
			return err
		}},
	} {
		before := getPod(t, ns, "db-1")
		if err := lose.do(before.DeepCopy()); err != nil {
			t.Fatalf("%s: %v", lose.how, err)
		}
		harness.Eventually(t, lose.how+" is replaced", func(ctx context.Context) error {
			after, err := suite.Host.CoreV1().Pods(ns).Get(ctx, "db-1", metav1.GetOptions{})
			if err == nil && after.UID == before.UID {
				err = fmt.Errorf("pod %s is still there", before.UID)
			}
			return err
		})
		waitReady(t, ns, "db", 2)
	}
	if after := claimUIDs(t, ns); !maps.Equal(claims, after) {
		t.Errorf("losing pods changed the claims from %v to %v", claims, after)
	}
}
