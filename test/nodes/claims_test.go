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
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"statefulset.dev/test/harness"
)

// TestMembersGetADiskLater gives members, whose data is in directories of their pods, a disk
// each, and asks for larger ones of a provisioner that cannot make them.
func TestMembersGetADiskLater(t *testing.T) {
	k := kinds()[0]
	passed := t.Run(k.name, func(t *testing.T) {
		s := newSet(t, k, 2, nil)
		before := []*corev1.Pod{s.pod(t, 0), s.pod(t, 1)}
		s.patch(t, disks("NewClaims", "16Mi"))
		for _, ordinal := range []int{1, 0} {
			s.awaitPod(t, ordinal, "is recreated with its disk", recreated(before[ordinal]))
		}
		s.awaitReady(t, 2)
		with := []*corev1.Pod{s.pod(t, 0), s.pod(t, 1)}
		for ordinal := range 2 {
			claim, err := cluster.Host.CoreV1().PersistentVolumeClaims(s.ns).Get(t.Context(), fmt.Sprintf("data-web-%d", ordinal),
				metav1.GetOptions{})
			if err != nil || claim.Status.Phase != corev1.ClaimBound {
				t.Errorf("the claim of member %d: got %v, %v, want a bound one", ordinal, claim.Status.Phase, err)
			}
		}

		s.patch(t, disks("InPlace", "32Mi"))
		s.awaitMessage(t,
			`could not grow claim data-web-1 from 16Mi to 32Mi: updating claim "data-web-1": only dynamically provisioned pvc can be resized and the storageclass that provisions the pvc must support resize`)
		s.patch(t, disks("InPlace", "16Mi"))
		s.awaitMessage(t, "2 of 2 members are available")
		for ordinal, pod := range with {
			if now := s.pod(t, ordinal); now.UID != pod.UID {
				t.Errorf("member %d was recreated for a disk that was not to be had", ordinal)
			}
		}
	})
	results = append(results, result{"members get a disk later, and a growth that is refused costs no pod", k.name, !passed})
}

// disks describes a disk for each member, in the place of the volume of that name.
func disks(policy, size string) string {
	return fmt.Sprintf(`{"spec":{"volumeClaimUpdate":{"policy":%q},"volumeClaimTemplates":[{"metadata":{"name":"data"},
		"spec":{"accessModes":["ReadWriteOnce"],"resources":{"requests":{"storage":%q}}}}]}}`, policy, size)
}

// awaitMessage waits until the condition Ready begins with these words.
func (s *set) awaitMessage(t *testing.T, words string) {
	t.Helper()
	harness.Eventually(t, "the set says "+words, func(ctx context.Context) error {
		object, err := s.get(ctx)
		if err != nil {
			return err
		}
		conditions, _, err := unstructured.NestedSlice(object.Object, "status", "conditions")
		if err != nil {
			return err
		}
		for _, c := range conditions {
			if c, ok := c.(map[string]any); ok && c["type"] == "Ready" && strings.HasPrefix(fmt.Sprint(c["message"]), words) {
				return nil
			}
		}
		return fmt.Errorf("the conditions are %v", conditions)
	})
}
