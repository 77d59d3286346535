// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package v1

import corev1 "k8s.io/api/core/v1"

// InPlaceUpdatePolicyType says what becomes of a member whose pod cannot be brought to a
// changed template as it is.
// +enum
type InPlaceUpdatePolicyType string

const (
	// IfPossibleInPlaceUpdatePolicyType recreates such a member, as without the field.
	IfPossibleInPlaceUpdatePolicyType InPlaceUpdatePolicyType = "IfPossible"
	// OnlyInPlaceUpdatePolicyType leaves such a member as it is, and the update waits: no
	// pod is removed for an update.
	OnlyInPlaceUpdatePolicyType InPlaceUpdatePolicyType = "Only"
)

// PodInService is the type of the pod condition by which the controller takes a pod out of service
// before it restarts its containers, and of the readiness gate of pods that it may do so with.
const PodInService corev1.PodConditionType = GroupName + "/in-service"

// Reasons in conditions of pods that an update in place changes.
const (
	// ReasonInService: the pod gets connections as far as it is ready.
	ReasonInService = "InService"
	// ReasonDraining: the pod gets no new connections, because its containers are about to be
	// restarted, or are.
	ReasonDraining = "Draining"
	// ReasonRevisionChanged: what was said of the pod was said of another revision. A condition
	// that steps of the update ask for is Unknown for that reason until somebody sets it.
	ReasonRevisionChanged = "RevisionChanged"
)

// InPlaceUpdate says that an update changes pods instead of replacing them, where that is
// possible.
type InPlaceUpdate struct {
	// policy is IfPossible or Only. Possible is a change of the images of containers and of
	// sidecars (init containers with restartPolicy Always), of the cpu and the memory that
	// these request and are limited to, where both templates say something of it, the QoS class
	// of the pod stays and the host resizes pods, and of labels and annotations of the
	// template. What an environment variable reads cannot be changed so, nor resources that a
	// volume shows. If anything else has changed,
	// IfPossible recreates the member, and Only leaves it as it is. A member that mounts
	// other claims than the templates describe is never updated in place.
	// +required
	// +k8s:required
	Policy InPlaceUpdatePolicyType `json:"policy" protobuf:"bytes,1,opt,name=policy,casttype=InPlaceUpdatePolicyType"`
	// drainSeconds is how many seconds a member that is ready is out of service before its
	// containers are restarted, from 0 to 3600. Pods that are created as long as the field is
	// there have the readiness gate apps.statefulset.dev/in-service; the condition of that type
	// becomes False, so that the pod gets no new connections, and True again when the containers
	// run as the update wants it. A pod without the gate is recreated instead, or, with the
	// policy Only, restarted without being taken out of service. Without the field, containers
	// are restarted at once.
	// +optional
	DrainSeconds *int32 `json:"drainSeconds,omitempty" protobuf:"varint,2,opt,name=drainSeconds"`
}
