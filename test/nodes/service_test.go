//go:build nodes

// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package nodes

import (
	"context"
	"fmt"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"statefulset.dev/test/harness"
)

// TestBothNamesWhileTheServiceChanges: members have the names of the service that the set
// had when they were created, so both are found until all are recreated.
func TestBothNamesWhileTheServiceChanges(t *testing.T) {
	k := kinds()[0]
	passed := t.Run(k.name, func(t *testing.T) {
		s := newSet(t, k, 2, nil)
		_, err := cluster.Host.CoreV1().Services(s.ns).Create(t.Context(), &corev1.Service{
			ObjectMeta: metav1.ObjectMeta{Name: "other"},
			Spec: corev1.ServiceSpec{
				ClusterIP: corev1.ClusterIPNone, Selector: map[string]string{"app": name}, Ports: []corev1.ServicePort{{Port: port}}},
		}, metav1.CreateOptions{})
		if err != nil {
			t.Fatalf("creating the other service: %v", err)
		}
		s.patch(t, `{"spec":{"serviceName":"other"}}`)
		before := s.pod(t, 1)
		if err := cluster.Host.CoreV1().Pods(s.ns).Delete(t.Context(), before.Name, metav1.DeleteOptions{}); err != nil {
			t.Fatalf("deleting member 1: %v", err)
		}
		s.awaitPod(t, 1, "is recreated", recreated(before))
		for _, found := range []struct{ asked, host string }{{"web-1", "web-0.web"}, {"web-0", "web-1.other"}} {
			harness.Eventually(t, fmt.Sprintf("%s finds %s", found.asked, found.host), func(ctx context.Context) error {
				output, err := k.kubectl(ctx, "exec", found.asked, "-n", s.ns, "--", "/web", "-ask",
					fmt.Sprintf("http://%s:%d/", found.host, port)).CombinedOutput()
				if err != nil {
					return fmt.Errorf("%w: %s", err, strings.TrimSpace(string(output)))
				}
				return nil
			})
		}
	})
	results = append(results, result{"members are found by the names of the service before and of the present one", k.name, !passed})
}
