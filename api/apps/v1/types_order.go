// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package v1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// UpdateDirectionType says from which end of the ordinals members are changed.
// +enum
type UpdateDirectionType string

const (
	// DescendingUpdateDirectionType changes the highest ordinal first, as apps/v1 does.
	DescendingUpdateDirectionType UpdateDirectionType = "Descending"
	// AscendingUpdateDirectionType changes the lowest ordinal first.
	AscendingUpdateDirectionType UpdateDirectionType = "Ascending"
)

// UpdateOrder says which members are changed before which.
type UpdateOrder struct {
	// direction is Descending, as without the field, or Ascending. It orders the members
	// between which first and last make no difference.
	// +optional
	Direction UpdateDirectionType `json:"direction,omitempty" protobuf:"bytes,1,opt,name=direction,casttype=UpdateDirectionType"`

	// first are ordinals whose members are changed before all others, in the order of this
	// list: a canary, for example. At most 100 ranges, none of which overlap.
	// +optional
	// +listType=atomic
	// +k8s:optional
	// +k8s:maxItems=100
	First []OrdinalRange `json:"first,omitempty" protobuf:"bytes,2,rep,name=first"`

	// last are selectors of members that are changed after all others, as a leader is best
	// handed over once: those that the first selector matches, then those that the second
	// one does, and so on; of several that match, the last counts. They match the labels
	// that a pod has at the time, so that a label that the members move among themselves
	// moves the order with it. A member that is available is not taken from service while
	// one that comes before it by these selectors is outdated or unavailable, whatever
	// maxUnavailable is, and although it is among first. At most 8 selectors, each with at
	// most 16 labels and expressions.
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
