// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package v1

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// StatefulSet runs members that are not interchangeable. Each member has its own name, disks and
// network identity, and keeps them when its pod is recreated. Member i of the set "db" is the pod
// "db-i".
// +genclient
// +genclient:method=GetScale,verb=get,subresource=scale,result=k8s.io/api/autoscaling/v1.Scale
// +genclient:method=UpdateScale,verb=update,subresource=scale,input=k8s.io/api/autoscaling/v1.Scale,result=k8s.io/api/autoscaling/v1.Scale
// +genclient:method=GetPlan,verb=get,subresource=plan,result=statefulset.dev/api/apps/v1.StatefulSetPlan
// +genclient:method=CreatePlan,verb=create,subresource=plan,input=statefulset.dev/api/apps/v1.StatefulSet,result=statefulset.dev/api/apps/v1.StatefulSetPlan
// +genclient:method=CreatePlanOfScale,verb=create,subresource=plan,input=k8s.io/api/autoscaling/v1.Scale,result=statefulset.dev/api/apps/v1.StatefulSetPlan
// +genclient:method=Replace,verb=create,subresource=replace,input=statefulset.dev/api/apps/v1.StatefulSetReplacement,result=statefulset.dev/api/apps/v1.StatefulSetReplacement
// +genclient:method=PlanRollout,verb=create,subresource=plan,input=statefulset.dev/api/apps/v1.StatefulSetRollout,result=statefulset.dev/api/apps/v1.StatefulSetPlan
// +genclient:method=PlanReplacement,verb=create,subresource=plan,input=statefulset.dev/api/apps/v1.StatefulSetReplacement,result=statefulset.dev/api/apps/v1.StatefulSetPlan
// +genclient:method=Rollout,verb=create,subresource=rollout,input=statefulset.dev/api/apps/v1.StatefulSetRollout,result=statefulset.dev/api/apps/v1.StatefulSetRollout
// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object
// +k8s:supportsSubresource="/status"
// +k8s:supportsSubresource="/scale"
type StatefulSet struct {
	// +k8s:opaqueType
	metav1.TypeMeta `json:",inline"`
	// metadata is the standard object metadata. The name must be a DNS label, because it is the
	// first part of the host name of each member.
	// +optional
	// +k8s:opaqueType
	metav1.ObjectMeta `json:"metadata,omitempty" protobuf:"bytes,1,opt,name=metadata"`
	// spec specifies the desired members: their number, their pod and claims, and how they are
	// created, updated and removed.
	// +optional
	Spec StatefulSetSpec `json:"spec,omitempty" protobuf:"bytes,2,opt,name=spec"`
	// status is the state of the set as the controller last observed it. Only the controller writes
	// it.
	// +optional
	Status StatefulSetStatus `json:"status,omitempty" protobuf:"bytes,3,opt,name=status"`
}

// StatefulSetList is a list of StatefulSets.
// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object
type StatefulSetList struct {
	// +k8s:opaqueType
	metav1.TypeMeta `json:",inline"`
	// metadata is the standard list metadata.
	// +optional
	// +k8s:opaqueType
	metav1.ListMeta `json:"metadata,omitempty" protobuf:"bytes,1,opt,name=metadata"`
	// items are the sets.
	Items []StatefulSet `json:"items" protobuf:"bytes,2,rep,name=items"`
}

// PodManagementPolicyType specifies whether members wait for each other.
// +enum
type PodManagementPolicyType string

const (
	// OrderedReadyPodManagement creates members one at a time, the lowest ordinal first. It creates
	// a member only when all members before it are available. It removes members one at a time, the
	// highest ordinal first.
	OrderedReadyPodManagement PodManagementPolicyType = "OrderedReady"
	// ParallelPodManagement creates and removes members without waiting for
	// other members.
	ParallelPodManagement PodManagementPolicyType = "Parallel"
)

// StatefulSetSpec is the desired state of a set.
type StatefulSetSpec struct {
	// replicas is the number of members. Defaults to 1. With 0 the set has no members. Whether
	// their claims are kept depends on persistentVolumeClaimRetentionPolicy.
	// +optional
	// +k8s:optional
	// +k8s:minimum=0
	Replicas *int32 `json:"replicas,omitempty" protobuf:"varint,1,opt,name=replicas"`

	// selector selects the pods that belong to the set. It must match the labels of the template,
	// must not be empty, and is immutable.
	// +required
	// +k8s:required
	// +k8s:opaqueType
	Selector *metav1.LabelSelector `json:"selector" protobuf:"bytes,2,opt,name=selector"`

	// template describes the pod of a member. The pod with ordinal i is named "<set>-<i>". Its
	// hostname is that name, and its subdomain is serviceName. restartPolicy must be Always.
	// +required
	// +k8s:opaqueType
	Template corev1.PodTemplateSpec `json:"template" protobuf:"bytes,3,opt,name=template"`

	// volumeClaimTemplates describe the claims of a member (PersistentVolumeClaims). For the
	// template "data", member i of the set "db" gets the claim "data-db-i", which is created before
	// its pod. If a claim of that name exists, the member uses it. A claim replaces a volume of the
	// same name in the pod template. The field is immutable unless volumeClaimUpdate is set.
	// Revisions do not record claim templates, so undoing an update does not change them.
	// +optional
	// +k8s:optional
	// +k8s:eachVal=+k8s:opaqueType
	// +listType=atomic
	VolumeClaimTemplates []corev1.PersistentVolumeClaim `json:"volumeClaimTemplates,omitempty" protobuf:"bytes,4,rep,name=volumeClaimTemplates"`

	// serviceName is the name of the headless Service that gives the members their DNS names:
	// "<set>-<i>.<serviceName>.<namespace>.svc.<cluster domain>". The set does not create that
	// Service. A change recreates no member: each member keeps its old DNS name until its pod is
	// next created. In apps/v1 the field is immutable.
	// +optional
	ServiceName string `json:"serviceName" protobuf:"bytes,5,opt,name=serviceName"`

	// podManagementPolicy specifies whether members wait for each other when they are created and
	// removed. It is OrderedReady (the default) or Parallel. After a change, the set continues from
	// its current state with the new policy. In apps/v1 the field is immutable.
	// +optional
	PodManagementPolicy PodManagementPolicyType `json:"podManagementPolicy,omitempty" protobuf:"bytes,6,opt,name=podManagementPolicy,casttype=PodManagementPolicyType"`

	// updateStrategy specifies how members are updated when the template changes.
	// +optional
	UpdateStrategy StatefulSetUpdateStrategy `json:"updateStrategy,omitempty" protobuf:"bytes,7,opt,name=updateStrategy"`

	// revisionHistoryLimit is the number of unused revisions that are kept for a rollback. A
	// revision that a member runs does not count. Defaults to 10. A negative value keeps all.
	// +optional
	RevisionHistoryLimit *int32 `json:"revisionHistoryLimit,omitempty" protobuf:"varint,8,opt,name=revisionHistoryLimit"`

	// minReadySeconds is the number of seconds for which a pod must be ready without interruption
	// before it counts as available. Defaults to 0: a pod is available when it becomes ready.
	// +optional
	// +k8s:optional
	// +k8s:minimum=0
	MinReadySeconds int32 `json:"minReadySeconds,omitempty" protobuf:"varint,9,opt,name=minReadySeconds"`

	// persistentVolumeClaimRetentionPolicy specifies when the claims of members are deleted. By
	// default they are never deleted, so data outlives the set.
	// +optional
	PersistentVolumeClaimRetentionPolicy *StatefulSetPersistentVolumeClaimRetentionPolicy `json:"persistentVolumeClaimRetentionPolicy,omitempty" protobuf:"bytes,10,opt,name=persistentVolumeClaimRetentionPolicy"`

	// ordinals specifies how members are numbered. By default, they are numbered from 0.
	// +optional
	// +k8s:optional
	Ordinals *StatefulSetOrdinals `json:"ordinals,omitempty" protobuf:"bytes,11,opt,name=ordinals"`

	// progressDeadlineSeconds is the number of seconds without progress, while the set does not
	// match its spec, after which Progressing becomes False and Stalled becomes True. The
	// controller continues to try. If it is not set, 600 applies.
	// +optional
	// +k8s:optional
	// +k8s:minimum=1
	ProgressDeadlineSeconds *int32 `json:"progressDeadlineSeconds,omitempty" protobuf:"varint,1000,opt,name=progressDeadlineSeconds"`

	// volumeClaimUpdate makes volumeClaimTemplates mutable, and specifies what happens to existing
	// claims. If it is not set, volumeClaimTemplates is immutable, as in apps/v1.
	// +optional
	// +k8s:optional
	VolumeClaimUpdate *StatefulSetVolumeClaimUpdate `json:"volumeClaimUpdate,omitempty" protobuf:"bytes,1001,opt,name=volumeClaimUpdate"`

	// overrides override parts of the pod template and of the claim templates for selected members:
	// for example, more memory for the first member, or another node for one member. If the override
	// of a member changes, its pod is recreated as for an update of the template: by the update
	// strategy, from the partition on, and at the target revision of the member. At most 50.
	// +optional
	// +patchMergeKey=name
	// +patchStrategy=merge
	// +listType=map
	// +listMapKey=name
	// +k8s:optional
	// +k8s:maxItems=50
	Overrides []MemberOverride `json:"overrides,omitempty" patchStrategy:"merge" patchMergeKey:"name" protobuf:"bytes,1002,rep,name=overrides"`

	// scaleStrategy limits how many members of a Parallel set are created or removed at a time. If
	// it is not set, there is no limit, as in apps/v1.
	// +optional
	// +k8s:optional
	ScaleStrategy *StatefulSetScaleStrategy `json:"scaleStrategy,omitempty" protobuf:"bytes,1003,opt,name=scaleStrategy"`

	// disruption specifies how the controller takes pods out of service: by eviction, or only after
	// gates agree. If it is not set, the controller deletes the pods, as in apps/v1.
	// +optional
	// +k8s:optional
	Disruption *StatefulSetDisruption `json:"disruption,omitempty" protobuf:"bytes,1004,opt,name=disruption"`

	// identity enables parameters in the templates: $(NAME) is replaced with a value for each
	// member, and transforms compute fields. An empty block enables the built-in parameters. If it
	// is not set, the templates are used unchanged.
	// +optional
	// +k8s:optional
	Identity *MemberIdentity `json:"identity,omitempty" protobuf:"bytes,1040,opt,name=identity"`

	// objectTemplates describe objects, such as Services and ConfigMaps, that the controller creates
	// for each member, or once for the set. A pod is created only after the objects of its member
	// and of the set. At most 16, with 96 KiB together.
	// +optional
	// +patchMergeKey=name
	// +patchStrategy=merge
	// +listType=map
	// +listMapKey=name
	// +k8s:optional
	// +k8s:maxItems=16
	ObjectTemplates []ObjectTemplate `json:"objectTemplates,omitempty" patchStrategy:"merge" patchMergeKey:"name" protobuf:"bytes,1041,rep,name=objectTemplates"`
}

// DefaultProgressDeadlineSeconds applies if spec.progressDeadlineSeconds is not set. The server
// does not write it into the set, so that a set of apps/v1 is returned unchanged.
const DefaultProgressDeadlineSeconds = 600

// StatefulSetOrdinals specifies how members are numbered.
type StatefulSetOrdinals struct {
	// start is the ordinal of the first member. Defaults to 0. The members have the ordinals start,
	// start+1, ... start+replicas-1, unless ordinals are reserved. The highest ordinal must be at
	// most 2147483647.
	// +optional
	// +k8s:optional
	// +k8s:minimum=0
	Start int32 `json:"start" protobuf:"varint,1,opt,name=start"`

	// reserved are ordinals that no member has. The set has as many members as replicas says, with
	// the lowest ordinals from start that are not reserved. For example, reserving ordinal 2 of the
	// three members of "web" removes web-2 and creates web-3. If the same write lowers replicas by
	// one, only web-2 is removed. Its claims are treated as in a scale-down. partition also counts
	// reserved ordinals, so reserving one never moves a member across the partition. At most 100
	// ranges, which must not overlap.
	// +optional
	// +patchMergeKey=first
	// +patchStrategy=merge
	// +listType=map
	// +listMapKey=first
	// +k8s:optional
	// +k8s:maxItems=100
	Reserved []OrdinalRange `json:"reserved,omitempty" patchStrategy:"merge" patchMergeKey:"first" protobuf:"bytes,1000,rep,name=reserved"`
}

// OrdinalRange is a range of ordinals. It includes both ends.
type OrdinalRange struct {
	// first is the lowest ordinal of the range.
	// +required
	First int32 `json:"first" protobuf:"varint,1,opt,name=first"`
	// last is the highest ordinal of the range. It must not be less than first. Defaults to first.
	// +optional
	Last *int32 `json:"last,omitempty" protobuf:"varint,2,opt,name=last"`
}

// End is the highest ordinal of the range.
func (r OrdinalRange) End() int32 {
	if r.Last == nil {
		return r.First
	}
	return *r.Last
}

// Contains reports whether an ordinal is in the range.
func (r OrdinalRange) Contains(ordinal int) bool {
	return int(r.First) <= ordinal && ordinal <= int(r.End())
}

// PersistentVolumeClaimRetentionPolicyType specifies whether claims are kept or deleted when their
// member, or the set, is removed.
// +enum
type PersistentVolumeClaimRetentionPolicyType string

const (
	// RetainPersistentVolumeClaimRetentionPolicyType keeps the claim until a user deletes it.
	RetainPersistentVolumeClaimRetentionPolicyType PersistentVolumeClaimRetentionPolicyType = "Retain"
	// DeletePersistentVolumeClaimRetentionPolicyType deletes the claim and its data.
	DeletePersistentVolumeClaimRetentionPolicyType PersistentVolumeClaimRetentionPolicyType = "Delete"
)

// StatefulSetPersistentVolumeClaimRetentionPolicy specifies when claims that were created from
// volumeClaimTemplates are deleted.
type StatefulSetPersistentVolumeClaimRetentionPolicy struct {
	// whenDeleted specifies what happens to all claims when the set is deleted. It is Retain (the
	// default) or Delete.
	// +optional
	WhenDeleted PersistentVolumeClaimRetentionPolicyType `json:"whenDeleted,omitempty" protobuf:"bytes,1,opt,name=whenDeleted,casttype=PersistentVolumeClaimRetentionPolicyType"`
	// whenScaled specifies what happens to the claims of a member that a scale-down removes. It is
	// Retain (the default) or Delete.
	// +optional
	WhenScaled PersistentVolumeClaimRetentionPolicyType `json:"whenScaled,omitempty" protobuf:"bytes,2,opt,name=whenScaled,casttype=PersistentVolumeClaimRetentionPolicyType"`

	// scaledAfterSeconds is the number of seconds after which the claims of a removed member are
	// deleted, counted from the time when its pod is gone. It must be at least 1, and requires
	// whenScaled Delete. Until then the claims are kept, and a member that returns uses them again.
	// The controller deletes only claims that a pod of this set has mounted since the field was set.
	// It needs the right to delete claims, which it does not have by default. If the field is not
	// set, claims are deleted with the pod.
	// +optional
	ScaledAfterSeconds *int32 `json:"scaledAfterSeconds,omitempty" protobuf:"varint,1000,opt,name=scaledAfterSeconds"`
}
