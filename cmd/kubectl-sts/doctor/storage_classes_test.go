// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package doctor

import (
	"fmt"
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes/fake"

	v1 "statefulset.dev/api/apps/v1"
)

func TestClaimsWhoseStorageClassDoesNotExistAreFound(t *testing.T) {
	set := v1.StatefulSet{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "db"}}
	set.Spec.Replicas = new(int32(3))
	set.Spec.VolumeClaimTemplates = []corev1.PersistentVolumeClaim{{ObjectMeta: metav1.ObjectMeta{Name: "data"}}}
	claim := func(ordinal int, phase corev1.PersistentVolumeClaimPhase, class *string) corev1.PersistentVolumeClaim {
		c := corev1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: fmt.Sprintf("data-db-%d", ordinal)}}
		c.Spec.StorageClassName, c.Status.Phase = class, phase
		return c
	}
	const missing = `claim shop/data-db-0: its StorageClass "fats" does not exist, so member db-0 has no volume until a PersistentVolume of that class exists`
	for sentence, test := range map[string]struct {
		claims []corev1.PersistentVolumeClaim
		want   []string
	}{
		"a class that exists": {[]corev1.PersistentVolumeClaim{claim(0, corev1.ClaimPending, new("fast"))}, nil},
		"a class that does not exist": {[]corev1.PersistentVolumeClaim{
			claim(0, corev1.ClaimPending, new("fats")), claim(1, corev1.ClaimPending, new("fats"))}, []string{missing}},
		"a claim that has its volume": {[]corev1.PersistentVolumeClaim{claim(0, corev1.ClaimBound, new("fats"))}, nil},
		"a claim of no member":        {[]corev1.PersistentVolumeClaim{claim(9, corev1.ClaimPending, new("fats"))}, nil},
		"volumes that people create":  {[]corev1.PersistentVolumeClaim{claim(0, corev1.ClaimPending, new(""))}, nil},
		"no class, and no default": {[]corev1.PersistentVolumeClaim{claim(0, corev1.ClaimPending, nil), claim(1, corev1.ClaimPending, nil)},
			[]string{"claim shop/data-db-0: names no StorageClass, and the cluster has set no default one, so member db-0 gets no volume"}},
	} {
		t.Run(sentence, func(t *testing.T) {
			host := fake.NewClientset(&storagev1.StorageClass{ObjectMeta: metav1.ObjectMeta{Name: "fast"}})
			var got []string
			for _, f := range (&examiner{host: host}).withoutClass(t.Context(), []v1.StatefulSet{set}, test.claims) {
				got = append(got, f.about+": "+f.message)
			}
			if !slices.Equal(got, test.want) {
				t.Errorf("got\n%q\nwant\n%q", got, test.want)
			}
			if asked := len(host.Actions()); asked > 1 {
				t.Errorf("asked the cluster %d times, want each class to be looked up once: %v", asked, host.Actions())
			}
		})
	}
}
