// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package v1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// UpdateDirectionType specifies from which end of the ordinals members are changed.
// +enum
type UpdateDirectionType string

const (
	// DescendingUpdateDirectionType changes the highest ordinal first, as apps/v1 does.
	DescendingUpdateDirectionType UpdateDirectionType = "Descending"
	// AscendingUpdateDirectionType changes the lowest ordinal first.
	AscendingUpdateDirectionType UpdateDirectionType = "Ascending"
)

// UpdateOrder specifies the order in which members are changed.
type UpdateOrder struct {
	// direction is Descending (the default) or Ascending. It orders the members that first and last
	// do not order.
	// +optional
	Direction UpdateDirectionType `json:"direction,omitempty" protobuf:"bytes,1,opt,name=direction,casttype=UpdateDirectionType"`

	// first are ordinals of members that are changed before all others, in the order of this list:
	// a canary, for example. At most 100 ranges, which must not overlap.
	// +optional
	// +listType=atomic
	// +k8s:optional
	// +k8s:maxItems=100
	First []OrdinalRange `json:"first,omitempty" protobuf:"bytes,2,rep,name=first"`

	// last are label selectors of members that are changed after all others, such as a leader whose
	// leadership should move only once. Members that match the first selector come first, then
	// those that match the second one, and so on. If a pod matches several selectors, the last one
	// applies. The selectors match the current labels of the pods. So if the members move a label
	// among themselves, the order changes with it. An available member that a selector matches is
	// not taken out of service while a member before it by these selectors is outdated or
	// unavailable. This applies whatever maxUnavailable is, and also to a member in first. At most
	// 8 selectors, each with 1 to 16 labels and expressions.
	// +optional
	// +listType=atomic
	// +k8s:optional
	// +k8s:maxItems=8
	// +k8s:eachVal=+k8s:opaqueType
	Last []metav1.LabelSelector `json:"last,omitempty" protobuf:"bytes,3,rep,name=last"`
}

// Reorders reports whether members may be changed in another order than in apps/v1.
func (o *UpdateOrder) Reorders() bool {
	return o != nil && (o.Direction == AscendingUpdateDirectionType || len(o.First)+len(o.Last) > 0)
}
