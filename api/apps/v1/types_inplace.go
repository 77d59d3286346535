// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package v1

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
}
