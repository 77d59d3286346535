// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package v1

import "k8s.io/apimachinery/pkg/util/intstr"

// StatefulSetScaleStrategy limits how fast members are created and removed.
type StatefulSetScaleStrategy struct {
	// maxUnavailable is the number of members of a Parallel set that may be starting at the same
	// time, and that may be terminating at the same time in a scale-down. It is a number of at
	// least 1, or a percentage of replicas from 1% to 100%, rounded down, but at least 1. In a
	// scale-down, a percentage counts the existing members if they are more than replicas: with
	// 50%, in a scale-down from 10 members to 1, first 5 are removed, then half of the rest. A
	// member is created, the lowest ordinal first, while fewer members are starting: they have a
	// pod that is not available and younger than spec.progressDeadlineSeconds. A member is removed,
	// the highest ordinal first, while fewer are terminating. If it is not set, there is no limit.
	// An OrderedReady set creates and removes one member at a time, and ignores the field.
	// +optional
	// +k8s:opaqueType
	MaxUnavailable *intstr.IntOrString `json:"maxUnavailable,omitempty" protobuf:"bytes,1,opt,name=maxUnavailable"`
}
