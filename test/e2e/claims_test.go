//go:build e2e

// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"context"
	"fmt"
	"os"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// TestLifeOfTheExampleWithGrowingClaims creates the example, has its disks grown by the
// part of the provisioner that KWOK does not play, and adds a disk to each member.
func TestLifeOfTheExampleWithGrowingClaims(t *testing.T) {
	t.Parallel()
	ns := namespace(t)
	content, err := os.ReadFile("../../artifacts/examples/claims.yaml")
	if err != nil {
		t.Fatalf("reading the example: %v", err)
	}
	pods := watchPods(t, ns)
	kubectlApply(t, string(content), "-n", ns)
	waitReady(t, ns, "db", 3)
	waitBound(t, ns, "data-db-0", "data-db-1", "data-db-2")
	mark := pods.mark()

	larger := strings.Replace(string(content), "storage: 1Gi", "storage: 2Gi", 1)
	_, proposal, _ := strings.Cut(larger, "---\n")
	said, err := planCommand(t, ns, proposal, "-f", "-")
	if want := "grow claim data-db-2 from 1Gi to 2Gi"; err != nil || !strings.Contains(said, want) {
		t.Errorf("kubectl sts plan says %v, %s, want a line with %q", err, said, want)
	}
	playResizer(t, ns)
	kubectlApply(t, larger, "-n", ns)
	set := waitReady(t, ns, "db", 3)
	if got := set.Status.VolumeClaims; len(got) != 1 || got[0].Name != "data" || got[0].Claims != 3 || got[0].UpToDate != 3 {
		t.Errorf("status.volumeClaims are %+v, want data with 3 claims, all up to date", got)
	}
	pods.expect(t, mark)

	mark = pods.mark()
	kubectl(t, "patch", kind, "db", "-n", ns, "--type=json", "-p", `[{"op": "add", "path": "/spec/volumeClaimTemplates/-", "value":
		{"metadata": {"name": "log"}, "spec": {"accessModes": ["ReadWriteOnce"], "storageClassName": "my-storage-class", "resources": {"requests": {"storage": "1Gi"}}}}}]`)
	pods.expect(t, mark, "deleted db-2", "added db-2", "deleted db-1", "added db-1", "deleted db-0", "added db-0")
	waitReady(t, ns, "db", 3)
	if claims := claimUIDs(t, ns); len(claims) != 6 || claims["log-db-0"] == "" {
		t.Errorf("claims are %v, want data and log of three members", claims)
	}
}

// playResizer gives claims that ask for more than they have a larger volume, as often as it is
// needed: KWOK may still be about to write the size that it made.
func playResizer(t *testing.T, ns string) {
	t.Helper()
	claims := suite.Host.CoreV1().PersistentVolumeClaims(ns)
	events, err := claims.Watch(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatalf("watching claims: %v", err)
	}
	t.Cleanup(events.Stop)
	go func() {
		for event := range events.ResultChan() {
			claim, ok := event.Object.(*corev1.PersistentVolumeClaim)
			if !ok || claim.Status.Phase != corev1.ClaimBound || claim.Status.Capacity.Storage().Cmp(*claim.Spec.Resources.Requests.Storage()) >= 0 {
				continue
			}
			if err := resize(t.Context(), claim); err != nil && !apierrors.IsConflict(err) && t.Context().Err() == nil {
				t.Errorf("resizing claim %s: %v", claim.Name, err)
			}
		}
	}()
}

// resize changes the volume first: the cluster gives a bound claim the size of its volume.
func resize(ctx context.Context, claim *corev1.PersistentVolumeClaim) error {
	size := claim.Spec.Resources.Requests.Storage()
	larger := fmt.Sprintf(`{"spec":{"capacity":{"storage":%q}}}`, size)
	if _, err := suite.Host.CoreV1().PersistentVolumes().Patch(ctx, claim.Spec.VolumeName, types.MergePatchType, []byte(larger),
		metav1.PatchOptions{}); err != nil {
		return err
	}
	claim.Status.Capacity = corev1.ResourceList{corev1.ResourceStorage: *size}
	_, err := suite.Host.CoreV1().PersistentVolumeClaims(claim.Namespace).UpdateStatus(ctx, claim, metav1.UpdateOptions{})
	return err
}
