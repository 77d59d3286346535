// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package v1

import "k8s.io/apimachinery/pkg/util/intstr"

// StatefulSetScaleStrategy says how fast members come and go.
type StatefulSetScaleStrategy struct {
	// maxUnavailable is how many members of a Parallel set may be starting at a time, and how
	// many may be going in a scale-down, as a number or as a percentage of replicas, rounded
	// down to no less than 1. In a scale-down, a percentage counts the members that exist if
	// they are more than replicas: with 50%, of 10 members that become 1 first 5 go, then half of
	// those that are left. Members are created, the lowest ordinals first, as long as fewer
	// have a pod that is not available and younger than spec.progressDeadlineSeconds, and
	// removed, the highest first, as long as fewer are terminating. Without it all are at the
	// same time. An OrderedReady set creates and removes one at a time, and ignores it.
	// +optional
	// +k8s:opaqueType
	MaxUnavailable *intstr.IntOrString `json:"maxUnavailable,omitempty" protobuf:"bytes,1,opt,name=maxUnavailable"`
}
