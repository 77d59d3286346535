// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package v1

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/utils/ptr"
)

// SetDefaults_StatefulSet sets the defaults of apps/v1. One case is easy to miss: a rollingUpdate
// block is added only if the type of the strategy is absent, too. A set with only "type:
// RollingUpdate" is stored, and behaves, without the block. For apps/v1, a block with only fields
// that apps/v1 does not know is no block, so nothing is set in such a block.
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

// SetDefaults_MemberOverride sets nothing, at any depth. Members are recreated when the digest of
// their override changes, so a default that a later release adds must not change it. The host
// cluster sets the defaults of the pod.
// +k8s:defaulter-gen=covers
func SetDefaults_MemberOverride(*MemberOverride) {}

// SetDefaults_PersistentVolumeClaim sets in a claim template what a claim stored by apps/v1 has:
// its kind, and the phase of a claim without a volume.
func SetDefaults_PersistentVolumeClaim(claim *corev1.PersistentVolumeClaim) {
	claim.APIVersion, claim.Kind = "v1", "PersistentVolumeClaim"
	if claim.Status.Phase == "" {
		claim.Status.Phase = corev1.ClaimPending
	}
}
