//go:build nodes

// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package nodes

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	v1 "statefulset.dev/api/apps/v1"
	"statefulset.dev/test/harness"
)

// TestDisksGrowAsFarAsAQuotaLetsThem grows the disks of members while they run, and updates them
// in the same write. The quota has room for one of three.
func TestDisksGrowAsFarAsAQuotaLetsThem(t *testing.T) {
	forOurs(t, "disks grow under running members, and a quota that ends half way costs no pod and is tried again", func(t *testing.T, k kind) {
		class := growingClass(t)
		s := newSet(t, k, 3, func(made *v1.StatefulSet) {
			withClaims("16Mi", class)(made)
			made.Spec.VolumeClaimUpdate = &v1.StatefulSetVolumeClaimUpdate{Policy: v1.InPlaceVolumeClaimUpdatePolicyType}
		})
		s.playResizer(t)
		pods := s.watchPods(t)
		s.change(t, growTo("24Mi"))
		s.awaitReady(t, 3)
		s.awaitReason(t, v1.ReasonMembersAvailable, "")
		s.expectSizes(t, "24Mi", "24Mi", "24Mi")
		pods.expect(t)

		s.limit(t, "80Mi") // 72Mi are used, and 8Mi more for each
		s.change(t, `[{"op":"add","path":"/spec/template/metadata/annotations","value":{"update":"1"}},`+growTo("32Mi")[1:])
		s.awaitReason(t, v1.ReasonHostRefused,
			`could not grow claim data-web-1 from 24Mi to 32Mi: updating claim "data-web-1": exceeded quota: limit`)
		s.expectSizes(t, "24Mi", "24Mi", "32Mi")
		pods.expect(t, recreations("web-2")...)

		s.limit(t, "96Mi")
		s.awaitReady(t, 3)
		s.awaitReason(t, v1.ReasonMembersAvailable, "")
		s.expectSizes(t, "32Mi", "32Mi", "32Mi")
		pods.expect(t, recreations("web-2", "web-1", "web-0")...)
	})
}

// TestAScaleUpEndsHalfWayAtAQuota: a member without a disk of its own is not created.
func TestAScaleUpEndsHalfWayAtAQuota(t *testing.T) {
	forOurs(t, "a scale-up that a quota ends half way says so, makes no member without its disk, and goes on when there is room",
		func(t *testing.T, k kind) {
			s := newSet(t, k, 1, withClaims("16Mi", ""))
			s.limit(t, "40Mi")
			pods := s.watchPods(t)
			s.patch(t, `{"spec":{"replicas":3}}`)
			s.awaitReason(t, v1.ReasonHostRefused, "data-web-2")
			found := s.awaitReason(t, v1.ReasonHostRefused, "exceeded quota: limit")
			if got := found.Status.ReadyReplicas; got != 2 {
				t.Errorf("%d members are ready, want the 2 for which there is room", got)
			}
			s.expectSizes(t, "16Mi", "16Mi")
			pods.expect(t, "web-1 came")
			s.limit(t, "48Mi")
			s.awaitReady(t, 3)
			pods.expect(t, "web-1 came", "web-2 came")
		})
}

func growTo(size string) string {
	return fmt.Sprintf(`[{"op":"replace","path":"/spec/volumeClaimTemplates/0/spec/resources/requests/storage","value":%q}]`, size)
}

// limit is how much storage claims may ask for together, from now on.
func (s *set) limit(t *testing.T, size string) {
	t.Helper()
	quotas := cluster.Host.CoreV1().ResourceQuotas(s.ns)
	hard := corev1.ResourceList{corev1.ResourceRequestsStorage: resource.MustParse(size)}
	_, err := quotas.Create(t.Context(),
		&corev1.ResourceQuota{ObjectMeta: metav1.ObjectMeta{Name: "limit"}, Spec: corev1.ResourceQuotaSpec{Hard: hard}}, metav1.CreateOptions{})
	if apierrors.IsAlreadyExists(err) {
		_, err = quotas.Patch(t.Context(), "limit", types.MergePatchType, fmt.Appendf(nil, `{"spec":{"hard":{"requests.storage":%q}}}`, size),
			metav1.PatchOptions{})
	}
	if err != nil {
		t.Fatalf("limiting the storage: %v", err)
	}
	harness.Eventually(t, "the quota is counted", func(ctx context.Context) error {
		got, err := quotas.Get(ctx, "limit", metav1.GetOptions{})
		if err != nil {
			return err
		}
		if want, used := hard[corev1.ResourceRequestsStorage], got.Status.Used[corev1.ResourceRequestsStorage]; used.IsZero() ||
			want.Cmp(got.Status.Hard[corev1.ResourceRequestsStorage]) != 0 {
			return fmt.Errorf("its status is %v", got.Status)
		}
		return nil
	})
}

// expectSizes compares what the disks of members have, in the order of their ordinals.
func (s *set) expectSizes(t *testing.T, want ...string) {
	t.Helper()
	claims, err := cluster.Host.CoreV1().PersistentVolumeClaims(s.ns).List(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatalf("listing claims: %v", err)
	}
	var got []string
	for i := range claims.Items {
		got = append(got, claims.Items[i].Spec.Resources.Requests.Storage().String())
	}
	if !slices.Equal(got, want) {
		t.Errorf("the claims ask for %v, want %v", got, want)
	}
}

// growingClass is a class like the usual one, whose disks may grow.
func growingClass(t *testing.T) string {
	t.Helper()
	class, err := cluster.Host.StorageV1().StorageClasses().Create(t.Context(), &storagev1.StorageClass{
		ObjectMeta: metav1.ObjectMeta{GenerateName: "growing-"}, Provisioner: "rancher.io/local-path",
		VolumeBindingMode: new(storagev1.VolumeBindingWaitForFirstConsumer), AllowVolumeExpansion: new(true),
	}, metav1.CreateOptions{})
	if err != nil {
		t.Fatalf("creating a class: %v", err)
	}
	t.Cleanup(func() {
		_ = cluster.Host.StorageV1().StorageClasses().Delete(context.WithoutCancel(t.Context()), class.Name, metav1.DeleteOptions{})
	})
	return class.Name
}

// playResizer does for the directories of the provisioner what the resizer of a driver does:
// they are as large as the disk that they are on, so that nothing but the word is missing.
func (s *set) playResizer(t *testing.T) {
	t.Helper()
	events, err := cluster.Host.CoreV1().PersistentVolumeClaims(s.ns).Watch(t.Context(), metav1.ListOptions{})
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
			if err := resize(t.Context(), claim); err != nil && !apierrors.IsConflict(err) && !errors.Is(err, context.Canceled) {
				t.Errorf("resizing claim %s: %v", claim.Name, err)
			}
		}
	}()
}

// resize changes the volume first, as drivers do.
func resize(ctx context.Context, claim *corev1.PersistentVolumeClaim) error {
	size := claim.Spec.Resources.Requests.Storage()
	larger := fmt.Appendf(nil, `{"spec":{"capacity":{"storage":%q}}}`, size.String())
	if _, err := cluster.Host.CoreV1().PersistentVolumes().Patch(ctx, claim.Spec.VolumeName, types.MergePatchType, larger,
		metav1.PatchOptions{}); err != nil {
		return err
	}
	claim.Status.Capacity = corev1.ResourceList{corev1.ResourceStorage: *size}
	_, err := cluster.Host.CoreV1().PersistentVolumeClaims(claim.Namespace).UpdateStatus(ctx, claim, metav1.UpdateOptions{})
	return err
}
