// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package v1

import "slices"

// DisruptionMethodType says how pods that are ready are removed.
// +enum
type DisruptionMethodType string

const (
	// DeleteDisruptionMethodType deletes them. It is what happens if nothing is said.
	DeleteDisruptionMethodType DisruptionMethodType = "Delete"
	// EvictDisruptionMethodType evicts them, so that PodDisruptionBudgets hold.
	EvictDisruptionMethodType DisruptionMethodType = "Evict"
)

// DisruptionOperationType is a reason for which the controller removes a pod that may serve.
// +enum
type DisruptionOperationType string

const (
	// UpdateDisruptionOperationType is an update of the member, in any update strategy.
	UpdateDisruptionOperationType DisruptionOperationType = "Update"
	// ScaleDownDisruptionOperationType is that the member is not wanted any more.
	ScaleDownDisruptionOperationType DisruptionOperationType = "ScaleDown"
	// ReplaceDisruptionOperationType is a request to replace the member.
	ReplaceDisruptionOperationType DisruptionOperationType = "Replace"
)

// The reasons of the condition of a pod that is a gate of spec.disruption. That of an answer
// is DisruptionAnswerPrefix with the id of the question behind it.
const (
	// ReasonGateRequested: the gate is asked.
	ReasonGateRequested = "Requested"
	// ReasonGateNotRequested: the gate is not asked.
	ReasonGateNotRequested = "NotRequested"
	// DisruptionAnswerPrefix is how the reason of an answer begins.
	DisruptionAnswerPrefix = "Request"
)

// StatefulSetDisruption says how the controller takes members from service: for an update,
// because they are not wanted any more, or because somebody has asked for it. It does not
// hold for pods that are deleted by others, are lost with their nodes, have ended, keep an
// update from going on, or go with the set.
type StatefulSetDisruption struct {
	// method is Delete or Evict. With Evict, pods that are ready are evicted, and restarted in
	// place only if they might be, so that the PodDisruptionBudgets of the namespace hold; one
	// that may not be evicted is tried again after 10 to 60 seconds. Others are deleted. Without
	// it, Delete.
	// +optional
	Method DisruptionMethodType `json:"method,omitempty" protobuf:"bytes,1,opt,name=method,casttype=DisruptionMethodType"`

	// gates are asked before a pod is removed, all at the same time, and all have to agree.
	// At most 8.
	// +optional
	// +listType=atomic
	// +k8s:optional
	// +k8s:maxItems=8
	Gates []DisruptionGate `json:"gates,omitempty" protobuf:"bytes,2,rep,name=gates"`
}

// DisruptionGate is asked before a pod is removed. The question is the annotation
// apps.statefulset.dev/disruption of the pod, whose JSON has an id, and then the condition of
// the pod with the status False and the reason Requested. The answer is the status True with
// the reason Request and the id, as in Request7. An answer to an earlier question is none.
type DisruptionGate struct {
	// conditionType is the type of the condition, with a domain, as in
	// example.com/handed-over. A pod that has it in its readinessGates does not get traffic
	// from the question on; it is given the condition True when it is created.
	// +required
	// +k8s:required
	ConditionType string `json:"conditionType" protobuf:"bytes,1,opt,name=conditionType"`

	// operations are those for which the gate is asked: Update, ScaleDown and Replace.
	// Without any, all. A pod that is not ready, and not only because a gate was asked, is
	// updated without asking.
	// +optional
	// +listType=atomic
	Operations []DisruptionOperationType `json:"operations,omitempty" protobuf:"bytes,3,rep,name=operations,casttype=DisruptionOperationType"`

	// timeoutSeconds is for how many seconds the answer is waited for, from the question on.
	// After that the pod is removed without it. Without it there is no end.
	// +optional
	TimeoutSeconds *int32 `json:"timeoutSeconds,omitempty" protobuf:"varint,4,opt,name=timeoutSeconds"`
}

// ConcernedBy reports whether the gate is asked before an operation.
func (g *DisruptionGate) ConcernedBy(operation DisruptionOperationType) bool {
	return len(g.Operations) == 0 || slices.Contains(g.Operations, operation)
}
