// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package statefulset

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"

	appsv1 "statefulset.dev/api/apps/v1"
	"statefulset.dev/registry/statefulset/settest"
)

func TestAChange(t *testing.T) {
	tests := map[string]verdict{
		"of nothing is accepted": {change: func(*appsv1.StatefulSet) {}},
		"of all that may change is accepted": {change: settest.Spec(func(s *appsv1.StatefulSetSpec) {
			s.Replicas, s.MinReadySeconds, s.RevisionHistoryLimit = ptr.To[int32](9), 5, ptr.To[int32](1)
			s.Ordinals = &appsv1.StatefulSetOrdinals{Start: 4}
			s.Template.Spec.Containers[0].Image = "nginx:2"
			s.UpdateStrategy = appsv1.StatefulSetUpdateStrategy{Type: appsv1.OnDeleteStatefulSetStrategyType}
			s.PersistentVolumeClaimRetentionPolicy.WhenScaled = appsv1.DeletePersistentVolumeClaimRetentionPolicyType
		})},
		"of the service": {
			change: settest.Spec(func(s *appsv1.StatefulSetSpec) { s.ServiceName = "other" }),
			want:   []string{"spec.serviceName: Invalid value: null: field is immutable"},
		},
		"of the management policy": {
			change: settest.Spec(func(s *appsv1.StatefulSetSpec) { s.PodManagementPolicy = appsv1.ParallelPodManagement }),
			want:   []string{"spec.podManagementPolicy: Invalid value: null: field is immutable"},
		},
		"of a claim template": {
			change: settest.Claim(func(c *corev1.PersistentVolumeClaim) { c.Name = "tmp" }),
			want: []string{
				`spec.template.spec.containers[0].volumeMounts[0].name: Not found: "www"`,
				"spec.volumeClaimTemplates: Invalid value: null: field is immutable",
			},
		},
		"of the selector": {
			change: settest.Spec(func(s *appsv1.StatefulSetSpec) {
				s.Selector.MatchLabels["tier"] = "front"
				s.Template.Labels["tier"] = "front"
			}),
			want: []string{"spec.selector: Invalid value: null: field is immutable"},
		},
		"of the template into one that cannot run": {
			change: settest.Pod(func(p *corev1.PodSpec) { p.Containers[0].Image = "" }),
			want:   []string{"spec.template.spec.containers[0].image: Required value"},
		},
		"to fewer than no replicas": {
			change: settest.Spec(func(s *appsv1.StatefulSetSpec) { s.Replicas = ptr.To[int32](-1) }),
			want:   []string{"spec.replicas: Invalid value: -1: must be greater than or equal to 0"},
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) { test.check(t, onUpdate(t, settest.Changed(test.change))) })
	}
}

func TestASetFromBeforeARuleCanStillBeScaled(t *testing.T) {
	old := settest.Changed(func(set *appsv1.StatefulSet) {
		set.Spec.Template.Spec.Containers[0].Image = ""
		set.Spec.ServiceName = "my.service"
		set.Spec.VolumeClaimTemplates[0].Spec.AccessModes = nil
	})
	set := old.DeepCopy()
	set.Spec.Replicas = ptr.To[int32](1)
	if errs := ValidateUpdate(set, old); len(errs) > 0 {
		t.Errorf("scaling: got %v, want no error", errs)
	}
}
