//go:build nodes

// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package nodes

import (
	"fmt"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "statefulset.dev/api/apps/v1"
)

// TestOneMemberIsOnAnotherNodeWithALargerDisk gives the second of three members a node and a
// larger disk, and takes the node back: the disk stays where it is, and the member with it.
func TestOneMemberIsOnAnotherNodeWithALargerDisk(t *testing.T) {
	forOurs(t, "one member has a node and a larger disk of its own, and loses nobody else when that changes", func(t *testing.T, k kind) {
		node := serverNode(t) // any would do
		s := newSet(t, k, 3, func(made *v1.StatefulSet) {
			withClaims("16Mi", "")(made)
			made.Spec.Overrides = []v1.MemberOverride{{
				Name: "big", Ordinals: []v1.OrdinalRange{{First: 1}},
				NodeSelector: map[string]string{corev1.LabelHostname: node},
				VolumeClaims: []v1.VolumeClaimOverride{{Name: "data", Storage: new(resource.MustParse("32Mi"))}},
			}}
		})
		if got := s.pod(t, 1); got.Spec.NodeName != node || got.Spec.NodeSelector[corev1.LabelHostname] != node {
			t.Errorf("member 1 is on %s with the selector %v, want %s", got.Spec.NodeName, got.Spec.NodeSelector, node)
		}
		for ordinal, want := range []string{"16Mi", "32Mi", "16Mi"} {
			claim, err := cluster.Host.CoreV1().PersistentVolumeClaims(s.ns).Get(t.Context(), fmt.Sprintf("data-web-%d", ordinal),
				metav1.GetOptions{})
			if err != nil || claim.Status.Capacity.Storage().String() != want {
				t.Errorf("the disk of member %d has %s, error %v, want %s", ordinal, claim.Status.Capacity.Storage(), err, want)
			}
			if selector := s.pod(t, ordinal).Spec.NodeSelector; (len(selector) > 0) != (ordinal == 1) {
				t.Errorf("member %d has the node selector %v, want one of member 1 alone", ordinal, selector)
			}
		}
		s.put(t, 1, "value", "kept")

		pods := s.watchPods(t)
		s.change(t, `[{"op":"remove","path":"/spec/overrides/0/nodeSelector"}]`)
		pods.expect(t, recreations("web-1")...)
		s.awaitReady(t, 3)
		if got := s.pod(t, 1); got.Spec.NodeName != node || len(got.Spec.NodeSelector) > 0 {
			t.Errorf("member 1 is on %s with the selector %v, want %s, where its disk is, and no selector", got.Spec.NodeName, got.Spec.NodeSelector,
				node)
		}
		if got := s.read(t, 1, "value"); got != "kept" {
			t.Errorf("on the disk of member 1 is %q, want what was there before", got)
		}
		pods.expect(t, recreations("web-1")...)
	})
}

// read is what a file on the disk of a member has.
func (s *set) read(t *testing.T, ordinal int, file string) string {
	t.Helper()
	output, err := kubectl(t.Context(), "exec", fmt.Sprintf("web-%d", ordinal), "-n", s.ns, "-c", "web", "--", "cat", "/data/"+file).Output()
	if err != nil {
		t.Fatalf("reading %s of member %d: %v", file, ordinal, err)
	}
	return string(output)
}
