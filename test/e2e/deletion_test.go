//go:build e2e

// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"context"
	"fmt"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"statefulset.dev/test/harness"
)

// TestCascades deletes a set in each of the three ways that kubectl offers.
func TestCascades(t *testing.T) {
	t.Parallel()
	for cascade, check := range map[string]func(t *testing.T, ns string, uids map[string]string){
		"orphan": func(t *testing.T, ns string, uids map[string]string) {
			harness.Eventually(t, "the pods have no owner", func(ctx context.Context) error {
				return eachPod(ctx, ns, func(pod *corev1.Pod) error {
					if len(pod.OwnerReferences) > 0 || pod.DeletionTimestamp != nil {
						return fmt.Errorf("pod %s is owned by %v, deletion %v", pod.Name, pod.OwnerReferences, pod.DeletionTimestamp)
					}
					return nil
				})
			})
			// The same set again takes its pods back as they are.
			create(t, ns, newSet("db", 2))
			waitReady(t, ns, "db", 2)
			if after := podUIDs(t, ns); fmt.Sprint(after) != fmt.Sprint(uids) {
				t.Errorf("pods after the set came back are %v, want the same as before, %v", after, uids)
			}
		},
		"background": expectNoPods,
		"foreground": expectNoPods,
	} {
		t.Run(cascade, func(t *testing.T) {
			t.Parallel()
			ns := namespace(t)
			create(t, ns, newSet("db", 2))
			waitReady(t, ns, "db", 2)
			uids, claims := podUIDs(t, ns), claimUIDs(t, ns)

			kubectl(t, "delete", kind, "db", "-n", ns, "--cascade="+cascade)
			_, err := suite.Sets.AppsV1().StatefulSets(ns).Get(t.Context(), "db", metav1.GetOptions{})
			if !apierrors.IsNotFound(err) {
				t.Errorf("getting the deleted set: %v, want not found", err)
			}
			check(t, ns, uids)
			if after := claimUIDs(t, ns); fmt.Sprint(after) != fmt.Sprint(claims) {
				t.Errorf("claims after the deletion are %v, want %v", after, claims)
			}
		})
	}
}

func expectNoPods(t *testing.T, ns string, _ map[string]string) {
	harness.Eventually(t, "all pods are gone", func(ctx context.Context) error {
		return eachPod(ctx, ns, func(pod *corev1.Pod) error { return fmt.Errorf("pod %s is there", pod.Name) })
	})
}

func eachPod(ctx context.Context, ns string, check func(*corev1.Pod) error) error {
	pods, err := suite.Host.CoreV1().Pods(ns).List(ctx, metav1.ListOptions{})
	if err != nil {
		return err
	}
	for i := range pods.Items {
		if err := check(&pods.Items[i]); err != nil {
			return err
		}
	}
	return nil
}

func podUIDs(t *testing.T, ns string) map[string]string {
	t.Helper()
	uids := map[string]string{}
	if err := eachPod(t.Context(), ns, func(pod *corev1.Pod) error {
		uids[pod.Name] = string(pod.UID)
		return nil
	}); err != nil {
		t.Fatalf("listing pods: %v", err)
	}
	return uids
}

// TestNamespaceDeletion checks that our group, present or not, does not keep a
// namespace from being deleted.
func TestNamespaceDeletion(t *testing.T) {
	t.Parallel()
	const limit = time.Minute
	for name, prepare := range map[string]func(ns string){
		"a namespace without sets": func(string) {},
		"a namespace with a set in it": func(ns string) {
			create(t, ns, newSet("db", 2))
			waitReady(t, ns, "db", 2)
		},
	} {
		t.Run(name, func(t *testing.T) {
			ns := namespace(t)
			prepare(ns)
			kubectl(t, "delete", "namespace", ns, "--timeout="+limit.String())
			if _, err := suite.Host.CoreV1().Namespaces().Get(t.Context(), ns, metav1.GetOptions{}); !apierrors.IsNotFound(err) {
				t.Errorf("getting the deleted namespace: %v, want not found", err)
			}
		})
	}
}
