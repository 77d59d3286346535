// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package v1

import corev1 "k8s.io/api/core/v1"

// InPlaceUpdatePolicyType specifies what happens to a member that cannot be updated in place.
// +enum
type InPlaceUpdatePolicyType string

const (
	// IfPossibleInPlaceUpdatePolicyType recreates the member, as without the field.
	IfPossibleInPlaceUpdatePolicyType InPlaceUpdatePolicyType = "IfPossible"
	// OnlyInPlaceUpdatePolicyType does not change the member, and the update waits. No pod is
	// removed for an update.
	OnlyInPlaceUpdatePolicyType InPlaceUpdatePolicyType = "Only"
)

// PodInService is the type of the pod condition with which the controller takes a pod out of
// service before it restarts its containers. Pods that can be drained have a readiness gate of this
// type.
const PodInService corev1.PodConditionType = GroupName + "/in-service"

// The reasons of pod conditions that an update in place sets.
const (
	// ReasonInService: the pod gets connections when it is ready.
	ReasonInService = "InService"
	// ReasonDraining: the pod gets no new connections, because its containers are being restarted,
	// or will be.
	ReasonDraining = "Draining"
	// ReasonRevisionChanged: the condition described another revision of the pod. A condition that
	// steps of the update require is Unknown with this reason until its writer sets it again.
	ReasonRevisionChanged = "RevisionChanged"
)

// InPlaceUpdate makes an update change the existing pods instead of replacing them, where that is
// possible.
type InPlaceUpdate struct {
	// policy is IfPossible or Only. These changes of the template are possible in place: images of
	// containers and of sidecars (init containers with restartPolicy Always); their CPU and memory
	// requests and limits; labels and annotations. A request or limit can change in place only if
	// both templates set it, the QoS class of the pod does not change, and the host cluster can
	// resize pods. Labels and annotations that an environment variable reads, and resources that an
	// environment variable or a volume shows, cannot change in place. If anything else changes,
	// IfPossible recreates the member, and Only does not change it. A member that mounts other
	// claims than the templates describe is never updated in place.
	// +required
	// +k8s:required
	Policy InPlaceUpdatePolicyType `json:"policy" protobuf:"bytes,1,opt,name=policy,casttype=InPlaceUpdatePolicyType"`
	// drainSeconds is the number of seconds for which a ready member is out of service before its
	// containers are restarted, from 0 to 3600. While the field is set, new pods get the readiness
	// gate apps.statefulset.dev/in-service. Before a restart, the controller sets the condition of
	// that type to False, so the pod gets no new connections. It sets the condition to True when
	// the containers run as the update requires. A pod without the readiness gate is recreated
	// instead. With the policy Only, it is restarted without a drain. If the field is not set,
	// containers are restarted at once.
	// +optional
	DrainSeconds *int32 `json:"drainSeconds,omitempty" protobuf:"varint,2,opt,name=drainSeconds"`
}
