// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"fmt"
	"maps"
	"math"
	"runtime"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "statefulset.dev/api/apps/v1"
	"statefulset.dev/test/harness"
)

// TestAPlanForAHugeSetIsSmall plans for parallel sets that fill the largest body which is
// accepted and want as many members as they can. What every member has of its own is
// bounded, and what they have in common they share.
func TestAPlanForAHugeSetIsSmall(t *testing.T) {
	const most = 64 << 20
	for full, fill := range map[string]func(*corev1.PodTemplateSpec) []corev1.PersistentVolumeClaim{
		"30,000 containers": func(template *corev1.PodTemplateSpec) []corev1.PersistentVolumeClaim {
			for i := range 30_000 {
				template.Spec.Containers = append(template.Spec.Containers, corev1.Container{Name: fmt.Sprint("c", i), Image: "b"})
			}
			return nil
		},
		"30,000 volumes and a claim": func(template *corev1.PodTemplateSpec) []corev1.PersistentVolumeClaim {
			for i := range 30_000 {
				template.Spec.Volumes = append(template.Spec.Volumes, corev1.Volume{Name: fmt.Sprint("v", i)})
			}
			return make([]corev1.PersistentVolumeClaim, 1)
		},
		"30,000 labels": func(template *corev1.PodTemplateSpec) []corev1.PersistentVolumeClaim {
			for i := range 30_000 {
				template.Labels[fmt.Sprint("l", i)] = ""
			}
			return nil
		},
		"10,000 claims": func(*corev1.PodTemplateSpec) []corev1.PersistentVolumeClaim {
			var claims []corev1.PersistentVolumeClaim
			for i := range 10_000 {
				claims = append(claims, corev1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprint("c", i)}})
			}
			return claims
		},
	} {
		t.Run(full, func(t *testing.T) {
			labels := map[string]string{"app": "web"}
			set := &v1.StatefulSet{
				ObjectMeta: metav1.ObjectMeta{Name: "web", Namespace: "shop", UID: "web-uid"},
				Spec: v1.StatefulSetSpec{
					Replicas: new(int32(math.MaxInt32)), PodManagementPolicy: v1.ParallelPodManagement,
					Selector: &metav1.LabelSelector{MatchLabels: labels},
					Template: corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: maps.Clone(labels)}},
				},
			}
			set.Spec.VolumeClaimTemplates = fill(&set.Spec.Template)
			before := harness.Heap()
			p := Compute(World{Set: set})
			more, members := harness.Heap()-before, len(p.Chains)
			t.Logf("a plan for %d members has %d KiB", members, more>>10)
			if more > most || members == 0 {
				t.Errorf("got a plan for %d members with %d MiB, want one or more, and at most %d MiB", members, more>>20, most>>20)
			}
			runtime.KeepAlive(p)
		})
	}
}
