// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package v1

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/utils/ptr"
)

func TestDefaults(t *testing.T) {
	rolled := func(partition, maxUnavailable int32) *RollingUpdateStatefulSetStrategy {
		return &RollingUpdateStatefulSetStrategy{Partition: &partition, MaxUnavailable: new(intstr.FromInt32(maxUnavailable))}
	}
	tests := map[string]struct {
		in   StatefulSetSpec
		want func(*StatefulSetSpec)
	}{
		"fill an empty spec": {want: func(s *StatefulSetSpec) {
			s.UpdateStrategy = StatefulSetUpdateStrategy{Type: RollingUpdateStatefulSetStrategyType, RollingUpdate: rolled(0, 1)}
		}},
		"make up no rolling update for a type that was named": {
			in:   StatefulSetSpec{UpdateStrategy: StatefulSetUpdateStrategy{Type: RollingUpdateStatefulSetStrategyType}},
			want: func(*StatefulSetSpec) {},
		},
		"fill a rolling update that was begun": {
			in: StatefulSetSpec{
				UpdateStrategy: StatefulSetUpdateStrategy{RollingUpdate: &RollingUpdateStatefulSetStrategy{Partition: ptr.To[int32](2)}}},
			want: func(s *StatefulSetSpec) {
				s.UpdateStrategy = StatefulSetUpdateStrategy{Type: RollingUpdateStatefulSetStrategyType, RollingUpdate: rolled(2, 1)}
			},
		},
		"fill in nothing beside what apps/v1 does not have, if the type was named": {
			in: StatefulSetSpec{UpdateStrategy: StatefulSetUpdateStrategy{Type: RollingUpdateStatefulSetStrategyType,
				RollingUpdate: &RollingUpdateStatefulSetStrategy{ReplaceUnreadyAfterSeconds: ptr.To[int32](300)}}},
			want: func(*StatefulSetSpec) {},
		},
		"fill in nothing beside an order, if the type was named": {
			in: StatefulSetSpec{UpdateStrategy: StatefulSetUpdateStrategy{Type: RollingUpdateStatefulSetStrategyType,
				RollingUpdate: &RollingUpdateStatefulSetStrategy{Order: &UpdateOrder{}}}},
			want: func(*StatefulSetSpec) {},
		},
		"fill in what apps/v1 makes up for a type that was not named": {
			in: StatefulSetSpec{UpdateStrategy: StatefulSetUpdateStrategy{
				RollingUpdate: &RollingUpdateStatefulSetStrategy{ReplaceUnreadyAfterSeconds: ptr.To[int32](300)}}},
			want: func(s *StatefulSetSpec) {
				s.UpdateStrategy = StatefulSetUpdateStrategy{Type: RollingUpdateStatefulSetStrategyType, RollingUpdate: rolled(0, 1)}
				s.UpdateStrategy.RollingUpdate.ReplaceUnreadyAfterSeconds = ptr.To[int32](300)
			},
		},
		"fill a rolling update that is empty, as apps/v1 does": {
			in: StatefulSetSpec{UpdateStrategy: StatefulSetUpdateStrategy{
				Type: RollingUpdateStatefulSetStrategyType, RollingUpdate: &RollingUpdateStatefulSetStrategy{}}},
			want: func(s *StatefulSetSpec) {
				s.UpdateStrategy = StatefulSetUpdateStrategy{Type: RollingUpdateStatefulSetStrategyType, RollingUpdate: rolled(0, 1)}
			},
		},
		"leave a strategy that does not roll": {
			in:   StatefulSetSpec{UpdateStrategy: StatefulSetUpdateStrategy{Type: OnDeleteStatefulSetStrategyType}},
			want: func(*StatefulSetSpec) {},
		},
		"keep zeros that were meant": {
			in: StatefulSetSpec{
				Replicas: ptr.To[int32](0), RevisionHistoryLimit: ptr.To[int32](0),
				UpdateStrategy: StatefulSetUpdateStrategy{Type: RecreateStatefulSetStrategyType},
			},
			want: func(s *StatefulSetSpec) { s.Replicas, s.RevisionHistoryLimit = ptr.To[int32](0), ptr.To[int32](0) },
		},
		"complete a retention policy": {
			in: StatefulSetSpec{
				UpdateStrategy: StatefulSetUpdateStrategy{Type: OnDeleteStatefulSetStrategyType},
				PersistentVolumeClaimRetentionPolicy: &StatefulSetPersistentVolumeClaimRetentionPolicy{
					WhenScaled: DeletePersistentVolumeClaimRetentionPolicyType},
			},
			want: func(s *StatefulSetSpec) {
				s.PersistentVolumeClaimRetentionPolicy.WhenScaled = DeletePersistentVolumeClaimRetentionPolicyType
			},
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			set := StatefulSet{Spec: *test.in.DeepCopy()}
			SetObjectDefaults_StatefulSet(&set)
			want := withAllDefaultsBut(test.in.UpdateStrategy)
			test.want(&want)
			if !equality.Semantic.DeepEqual(set.Spec, want) {
				t.Errorf("spec:\n got %+v\nwant %+v", set.Spec, want)
			}
		})
	}
}

// withAllDefaultsBut is what becomes of an empty spec, with the given strategy.
func withAllDefaultsBut(strategy StatefulSetUpdateStrategy) StatefulSetSpec {
	return StatefulSetSpec{
		Replicas:             ptr.To[int32](1),
		PodManagementPolicy:  OrderedReadyPodManagement,
		RevisionHistoryLimit: ptr.To[int32](10),
		UpdateStrategy:       strategy,
		PersistentVolumeClaimRetentionPolicy: &StatefulSetPersistentVolumeClaimRetentionPolicy{
			WhenDeleted: RetainPersistentVolumeClaimRetentionPolicyType,
			WhenScaled:  RetainPersistentVolumeClaimRetentionPolicyType,
		},
		Template: corev1.PodTemplateSpec{Spec: corev1.PodSpec{
			DNSPolicy:                     corev1.DNSClusterFirst,
			RestartPolicy:                 corev1.RestartPolicyAlways,
			SchedulerName:                 corev1.DefaultSchedulerName,
			SecurityContext:               &corev1.PodSecurityContext{},
			TerminationGracePeriodSeconds: ptr.To[int64](30),
		}},
	}
}
