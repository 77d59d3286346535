//go:build nodes

// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package nodes

import (
	"context"
	"fmt"
	"maps"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "statefulset.dev/api/apps/v1"
	"statefulset.dev/test/harness"
)

// TestDisksOutliveAScaleDownForATime removes members and brings them back within the delay, with
// the volumes that they had, and removes them again until the volumes are gone, too.
func TestDisksOutliveAScaleDownForATime(t *testing.T) {
	k := kinds()[0]
	passed := t.Run(k.name, func(t *testing.T) {
		s := newSet(t, k, 3, func(made *v1.StatefulSet) {
			withClaims("16Mi", "")(made)
			made.Spec.PersistentVolumeClaimRetentionPolicy = &v1.StatefulSetPersistentVolumeClaimRetentionPolicy{
				WhenScaled: v1.DeletePersistentVolumeClaimRetentionPolicyType, WhenDeleted: v1.DeletePersistentVolumeClaimRetentionPolicyType,
				ScaledAfterSeconds: new(int32(3600)),
			}
		})
		before := s.volumes(t.Context(), t)
		s.patch(t, `{"spec":{"replicas":1}}`)
		s.awaitReady(t, 1)
		s.patch(t, `{"spec":{"replicas":3}}`)
		s.awaitReady(t, 3)
		if after := s.volumes(t.Context(), t); len(after) != 3 || !maps.Equal(after, before) {
			t.Errorf("got volumes %v by claim, want those of before, %v", after, before)
		}

		cluster.MustKubectl(t, "", "apply", "-k", "../../artifacts/reclaim")
		s.patch(t, `{"spec":{"replicas":1,"persistentVolumeClaimRetentionPolicy":{"scaledAfterSeconds":1}}}`)
		harness.Eventually(t, "claims and volumes of removed members are gone", func(ctx context.Context) error {
			if left := s.volumes(ctx, t); len(left) != 1 || left["data-web-0"] != before["data-web-0"] {
				return fmt.Errorf("the claims are %v", left)
			}
			for _, claim := range []string{"data-web-1", "data-web-2"} {
				if _, err := cluster.Host.CoreV1().PersistentVolumes().Get(ctx, before[claim], metav1.GetOptions{}); !apierrors.IsNotFound(err) {
					return fmt.Errorf("volume %s of claim %s: got %w, want none", before[claim], claim, err)
				}
			}
			return nil
		})
		s.awaitReady(t, 1)
	})
	results = append(results, result{"disks outlive a scale-down for a time, and go after it", k.name, !passed})
}

// volumes are those of the claims, by the names of these.
func (s *set) volumes(ctx context.Context, t *testing.T) map[string]string {
	t.Helper()
	claims, err := cluster.Host.CoreV1().PersistentVolumeClaims(s.ns).List(ctx, metav1.ListOptions{})
	if err != nil {
		t.Fatalf("listing claims: %v", err)
	}
	all := map[string]string{}
	for _, claim := range claims.Items {
		all[claim.Name] = claim.Spec.VolumeName
	}
	return all
}
