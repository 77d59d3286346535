// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package v1

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// StatefulSet runs members that must not be replaceable: each has a name, a
// disk and an address of its own, and gets the same ones back whenever it is
// started again. Member i of the set "db" is the pod "db-i".
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
	// metadata is the standard object metadata. The name must be a DNS label,
	// because it is the first part of every member's host name.
	// +optional
	// +k8s:opaqueType
	metav1.ObjectMeta `json:"metadata,omitempty" protobuf:"bytes,1,opt,name=metadata"`
	// spec is what the user wants: how many members, of what shape, and how they
	// are brought up, updated and taken down.
	// +optional
	Spec StatefulSetSpec `json:"spec,omitempty" protobuf:"bytes,2,opt,name=spec"`
	// status is what the controller last saw. Users read it; only the controller
	// writes it.
	// +optional
	Status StatefulSetStatus `json:"status,omitempty" protobuf:"bytes,3,opt,name=status"`
}

// StatefulSetList is a list of sets.
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

// PodManagementPolicyType says whether members wait for each other.
// +enum
type PodManagementPolicyType string

const (
	// OrderedReadyPodManagement creates members one by one from the lowest
	// ordinal up, each only when all before it are available, and removes them
	// one by one from the highest ordinal down.
	OrderedReadyPodManagement PodManagementPolicyType = "OrderedReady"
	// ParallelPodManagement creates and removes members without waiting for
	// other members.
	ParallelPodManagement PodManagementPolicyType = "Parallel"
)

// StatefulSetSpec is what the user wants.
type StatefulSetSpec struct {
	// replicas is the number of members. Defaults to 1; 0 is valid and keeps the
	// claims.
	// +optional
	// +k8s:optional
	// +k8s:minimum=0
	Replicas *int32 `json:"replicas,omitempty" protobuf:"varint,1,opt,name=replicas"`

	// selector says which pods belong to the set. It must match the labels of the
	// template, must not be empty, and cannot be changed.
	// +required
	// +k8s:required
	// +k8s:opaqueType
	Selector *metav1.LabelSelector `json:"selector" protobuf:"bytes,2,opt,name=selector"`

	// template describes the pod of a member. The pod of ordinal i is named
	// "<set>-<i>"; its hostname is that name and its subdomain is serviceName.
	// restartPolicy must be Always.
	// +required
	// +k8s:opaqueType
	Template corev1.PodTemplateSpec `json:"template" protobuf:"bytes,3,opt,name=template"`

	// volumeClaimTemplates describe the claims of a member. Member i of the set
	// "db" gets, for the template "data", the claim "data-db-i", created before
	// its pod; a claim of that name that exists already is used as it is. A claim
	// takes the place of a template volume of the same name. Cannot be changed without
	// volumeClaimUpdate. Revisions do not hold them, so undoing an update leaves them.
	// +optional
	// +k8s:optional
	// +k8s:eachVal=+k8s:opaqueType
	// +listType=atomic
	VolumeClaimTemplates []corev1.PersistentVolumeClaim `json:"volumeClaimTemplates,omitempty" protobuf:"bytes,4,rep,name=volumeClaimTemplates"`

	// serviceName names the headless service that gives the members their DNS
	// names: "<set>-<i>.<serviceName>.<namespace>.svc.<cluster domain>". The set
	// does not create that service. When it is changed, no member is recreated for
	// it: each gets the new name when it is next created, and keeps the old one
	// until then. (apps/v1 does not let it be changed.)
	// +optional
	ServiceName string `json:"serviceName" protobuf:"bytes,5,opt,name=serviceName"`

	// podManagementPolicy says whether members wait for each other when they are
	// created and removed: OrderedReady, the default, or Parallel. When it is
	// changed, the set goes on in the new way from where it is. (apps/v1 does not
	// let it be changed.)
	// +optional
	PodManagementPolicy PodManagementPolicyType `json:"podManagementPolicy,omitempty" protobuf:"bytes,6,opt,name=podManagementPolicy,casttype=PodManagementPolicyType"`

	// updateStrategy says how members come to run a changed template.
	// +optional
	UpdateStrategy StatefulSetUpdateStrategy `json:"updateStrategy,omitempty" protobuf:"bytes,7,opt,name=updateStrategy"`

	// revisionHistoryLimit is how many revisions that no member runs are kept for
	// a rollback. Defaults to 10; a negative value keeps all.
	// +optional
	RevisionHistoryLimit *int32 `json:"revisionHistoryLimit,omitempty" protobuf:"varint,8,opt,name=revisionHistoryLimit"`

	// minReadySeconds is for how many seconds a pod must have been ready, without
	// a break, before it counts as available. Defaults to 0: available as soon as
	// ready.
	// +optional
	// +k8s:optional
	// +k8s:minimum=0
	MinReadySeconds int32 `json:"minReadySeconds,omitempty" protobuf:"varint,9,opt,name=minReadySeconds"`

	// persistentVolumeClaimRetentionPolicy says when the claims of members are
	// deleted. By default never: data outlives the set.
	// +optional
	PersistentVolumeClaimRetentionPolicy *StatefulSetPersistentVolumeClaimRetentionPolicy `json:"persistentVolumeClaimRetentionPolicy,omitempty" protobuf:"bytes,10,opt,name=persistentVolumeClaimRetentionPolicy"`

	// ordinals says where the numbering of members begins. By default at 0.
	// +optional
	// +k8s:optional
	Ordinals *StatefulSetOrdinals `json:"ordinals,omitempty" protobuf:"bytes,11,opt,name=ordinals"`

	// progressDeadlineSeconds is for how many seconds nothing may move, while the set
	// is not as its spec wants it, before the conditions Progressing and Stalled say
	// so. The controller goes on all the same. Without it, 600.
	// +optional
	// +k8s:optional
	// +k8s:minimum=1
	ProgressDeadlineSeconds *int32 `json:"progressDeadlineSeconds,omitempty" protobuf:"varint,1000,opt,name=progressDeadlineSeconds"`

	// volumeClaimUpdate lets volumeClaimTemplates be changed, and says what becomes of
	// the claims that exist. Without it they cannot be changed, as in apps/v1.
	// +optional
	// +k8s:optional
	VolumeClaimUpdate *StatefulSetVolumeClaimUpdate `json:"volumeClaimUpdate,omitempty" protobuf:"bytes,1001,opt,name=volumeClaimUpdate"`

	// overrides say in what single members are otherwise than the template and the claim
	// templates describe: a first member with more memory, one with another node. A member
	// whose pod was created with another override than it has now, or without one, is
	// recreated as for an update of the template: by the update strategy, from the partition
	// on, at the revision that it is to have. At most 50.
	// +optional
	// +patchMergeKey=name
	// +patchStrategy=merge
	// +listType=map
	// +listMapKey=name
	// +k8s:optional
	// +k8s:maxItems=50
	Overrides []MemberOverride `json:"overrides,omitempty" patchStrategy:"merge" patchMergeKey:"name" protobuf:"bytes,1002,rep,name=overrides"`

	// scaleStrategy bounds how many members of a Parallel set start, or go, at a time.
	// Without it all do, as in apps/v1.
	// +optional
	// +k8s:optional
	ScaleStrategy *StatefulSetScaleStrategy `json:"scaleStrategy,omitempty" protobuf:"bytes,1003,opt,name=scaleStrategy"`

	// disruption says how members are taken from service: by eviction, or after others have
	// agreed. Without it their pods are deleted, as in apps/v1.
	// +optional
	// +k8s:optional
	Disruption *StatefulSetDisruption `json:"disruption,omitempty" protobuf:"bytes,1004,opt,name=disruption"`

	// identity gives templates parameters: $(NAME) in them becomes what is right for each
	// member, and transforms compute fields. An empty block does so with the parameters that
	// every member has. Without it nothing of a template is touched.
	// +optional
	// +k8s:optional
	Identity *MemberIdentity `json:"identity,omitempty" protobuf:"bytes,1040,opt,name=identity"`

	// objectTemplates describe objects, such as Services and ConfigMaps, that are made for each
	// member, or once for the set, before pods that need them. At most 16, of 96 KiB together.
	// +optional
	// +patchMergeKey=name
	// +patchStrategy=merge
	// +listType=map
	// +listMapKey=name
	// +k8s:optional
	// +k8s:maxItems=16
	ObjectTemplates []ObjectTemplate `json:"objectTemplates,omitempty" patchStrategy:"merge" patchMergeKey:"name" protobuf:"bytes,1041,rep,name=objectTemplates"`
}

// DefaultProgressDeadlineSeconds stands for spec.progressDeadlineSeconds where a set
// says nothing. It is not filled in, so that a set of apps/v1 comes back as it went in.
const DefaultProgressDeadlineSeconds = 600

// StatefulSetOrdinals says how members are numbered.
type StatefulSetOrdinals struct {
	// start is the ordinal of the first member; the members are
	// start, start+1, ... start+replicas-1, unless ordinals are reserved.
	// +optional
	// +k8s:optional
	// +k8s:minimum=0
	Start int32 `json:"start" protobuf:"varint,1,opt,name=start"`

	// reserved are ordinals that no member has. The members are the first replicas
	// ordinals from start that are not reserved: reserving web-2 of three members
	// removes it and creates web-3, and with one replica less in the same write it
	// removes web-2 alone. Its claims are treated as in a scale-down. partition
	// counts reserved ordinals, too, so reserving one never moves a member across it.
	// At most 100 ranges, none of which overlap.
	// +optional
	// +patchMergeKey=first
	// +patchStrategy=merge
	// +listType=map
	// +listMapKey=first
	// +k8s:optional
	// +k8s:maxItems=100
	Reserved []OrdinalRange `json:"reserved,omitempty" patchStrategy:"merge" patchMergeKey:"first" protobuf:"bytes,1000,rep,name=reserved"`
}

// OrdinalRange is a row of ordinals, with both its ends.
type OrdinalRange struct {
	// first is the lowest ordinal of the range.
	// +required
	First int32 `json:"first" protobuf:"varint,1,opt,name=first"`
	// last is the highest, not less than first. Without it the range is first alone.
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

// PersistentVolumeClaimRetentionPolicyType says whether a claim outlives the
// reason for it.
// +enum
type PersistentVolumeClaimRetentionPolicyType string

const (
	// RetainPersistentVolumeClaimRetentionPolicyType keeps the claim until
	// somebody deletes it by hand.
	RetainPersistentVolumeClaimRetentionPolicyType PersistentVolumeClaimRetentionPolicyType = "Retain"
	// DeletePersistentVolumeClaimRetentionPolicyType lets the claim be deleted,
	// and its data with it.
	DeletePersistentVolumeClaimRetentionPolicyType PersistentVolumeClaimRetentionPolicyType = "Delete"
)

// StatefulSetPersistentVolumeClaimRetentionPolicy says when claims that came
// from volumeClaimTemplates are deleted.
type StatefulSetPersistentVolumeClaimRetentionPolicy struct {
	// whenDeleted is the fate of all claims when the set is deleted: Retain, the
	// default, or Delete.
	// +optional
	WhenDeleted PersistentVolumeClaimRetentionPolicyType `json:"whenDeleted,omitempty" protobuf:"bytes,1,opt,name=whenDeleted,casttype=PersistentVolumeClaimRetentionPolicyType"`
	// whenScaled is the fate of a member's claims when a scale-down removes that
	// member: Retain, the default, or Delete.
	// +optional
	WhenScaled PersistentVolumeClaimRetentionPolicyType `json:"whenScaled,omitempty" protobuf:"bytes,2,opt,name=whenScaled,casttype=PersistentVolumeClaimRetentionPolicyType"`

	// scaledAfterSeconds is how many seconds after the end of a removed member's pod its claims
	// are deleted, if whenScaled is Delete. Until then they are kept, and a member that comes back
	// gets them back. Only claims are deleted that a pod of this set has mounted since the field
	// was set. The controller needs the right to delete claims, which its installation does not
	// include by itself. Absent, claims go with the pod.
	// +optional
	ScaledAfterSeconds *int32 `json:"scaledAfterSeconds,omitempty" protobuf:"varint,1000,opt,name=scaledAfterSeconds"`
}
