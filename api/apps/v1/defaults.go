// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package v1

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/utils/ptr"
)

// SetDefaults_StatefulSet fills what a user may leave out, with the values of
// apps/v1. The case that is easy to lose: a rollingUpdate block is made up only
// when the strategy's type was absent too, because a set that says nothing but
// "type: RollingUpdate" is stored, and behaves, without the block. To apps/v1 a block
// that has only fields that it does not know is no block, so that nothing is filled in
// there.
func SetDefaults_StatefulSet(set *StatefulSet) {
	spec := &set.Spec
	if spec.PodManagementPolicy == "" {
		spec.PodManagementPolicy = OrderedReadyPodManagement
	}
	if spec.Replicas == nil {
		spec.Replicas = ptr.To[int32](1)
	}
	if spec.RevisionHistoryLimit == nil {
		spec.RevisionHistoryLimit = ptr.To[int32](10)
	}
	defaultUpdateStrategy(&spec.UpdateStrategy)
	if spec.PersistentVolumeClaimRetentionPolicy == nil {
		spec.PersistentVolumeClaimRetentionPolicy = &StatefulSetPersistentVolumeClaimRetentionPolicy{}
	}
	defaultRetentionPolicy(spec.PersistentVolumeClaimRetentionPolicy)
}

func defaultUpdateStrategy(strategy *StatefulSetUpdateStrategy) {
	typed := strategy.Type != ""
	if !typed {
		strategy.Type = RollingUpdateStatefulSetStrategyType
		if strategy.RollingUpdate == nil {
			strategy.RollingUpdate = &RollingUpdateStatefulSetStrategy{}
		}
	}
	rolling := strategy.RollingUpdate
	if strategy.Type != RollingUpdateStatefulSetStrategyType || rolling == nil || typed && rolling.IsExtension() {
		return
	}
	if rolling.Partition == nil {
		rolling.Partition = ptr.To[int32](0)
	}
	if rolling.MaxUnavailable == nil {
		rolling.MaxUnavailable = new(intstr.FromInt32(1))
	}
}

func defaultRetentionPolicy(policy *StatefulSetPersistentVolumeClaimRetentionPolicy) {
	if policy.WhenDeleted == "" {
		policy.WhenDeleted = RetainPersistentVolumeClaimRetentionPolicyType
	}
	if policy.WhenScaled == "" {
		policy.WhenScaled = RetainPersistentVolumeClaimRetentionPolicyType
	}
}

// SetDefaults_MemberOverride fills nothing in, at any depth: what an override says has a digest by
// which members are recreated, and a default that a later release adds must not change it. The
// host fills in what a pod leaves open.
// +k8s:defaulter-gen=covers
func SetDefaults_MemberOverride(*MemberOverride) {}

// SetDefaults_PersistentVolumeClaim gives a claim template what a stored claim
// of apps/v1 shows: its own kind, and the phase of a claim that has no volume.
func SetDefaults_PersistentVolumeClaim(claim *corev1.PersistentVolumeClaim) {
	claim.APIVersion, claim.Kind = "v1", "PersistentVolumeClaim"
	if claim.Status.Phase == "" {
		claim.Status.Phase = corev1.ClaimPending
	}
}
