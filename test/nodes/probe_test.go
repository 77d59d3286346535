//go:build nodes

// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package nodes

import (
	"errors"
	"fmt"
	"testing"

	corev1 "k8s.io/api/core/v1"

	v1 "statefulset.dev/api/apps/v1"
)

// grpcMember serves the health protocol of gRPC, and ends at once.
func grpcMember(made *v1.StatefulSet) {
	container := &made.Spec.Template.Spec.Containers[0]
	container.Image, container.Args = "localhost/agnhost:dev", []string{"grpc-health-checking"}
	container.ReadinessProbe = &corev1.Probe{
		PeriodSeconds: 1, FailureThreshold: 1, ProbeHandler: corev1.ProbeHandler{GRPC: &corev1.GRPCAction{Port: 5000}}}
}

// TestMembersThatAreProbedByGRPC: the kubelet asks agnhost, which says that it serves, then that it does not, then that it does, and
// which an update recreates.
func TestMembersThatAreProbedByGRPC(t *testing.T) {
	forBoth(t, "members that are probed by gRPC", func(t *testing.T, k kind) {
		s := newSet(t, k, 2, grpcMember)
		before := s.pod(t, 0)
		s.say(t, 1, "make-not-serving")
		s.awaitPod(t, 1, "is not ready", func(pod *corev1.Pod) error {
			if !readySince(pod).IsZero() {
				return errors.New("it is ready")
			}
			return nil
		})
		s.say(t, 1, "make-serving")
		s.awaitReady(t, 2)
		s.patch(t, `{"spec":{"template":{"metadata":{"annotations":{"turn":"two"}}}}}`)
		s.awaitPod(t, 0, "is recreated", recreated(before))
		s.awaitReady(t, 2)
	})
}

// say asks a member for a path, which changes what it says over gRPC.
func (s *set) say(t *testing.T, ordinal int, path string) {
	t.Helper()
	err := cluster.Host.CoreV1().RESTClient().Get().Namespace(s.ns).Resource("pods").Name(fmt.Sprintf("%s-%d:%d", name, ordinal, port)).
		SubResource("proxy").Suffix(path).Do(t.Context()).Error()
	if err != nil {
		t.Fatalf("asking member %d to %s: %v", ordinal, path, err)
	}
}
