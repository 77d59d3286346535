// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package v1

import "slices"

// DisruptionMethodType specifies how the controller removes ready pods.
// +enum
type DisruptionMethodType string

const (
	// DeleteDisruptionMethodType deletes ready pods. It is the default.
	DeleteDisruptionMethodType DisruptionMethodType = "Delete"
	// EvictDisruptionMethodType evicts ready pods, so that PodDisruptionBudgets are respected.
	EvictDisruptionMethodType DisruptionMethodType = "Evict"
)

// DisruptionOperationType is an operation for which the controller removes a pod that may serve.
// +enum
type DisruptionOperationType string

const (
	// UpdateDisruptionOperationType is an update of the member, with any update strategy.
	UpdateDisruptionOperationType DisruptionOperationType = "Update"
	// ScaleDownDisruptionOperationType is the removal of a member that is no longer desired.
	ScaleDownDisruptionOperationType DisruptionOperationType = "ScaleDown"
	// ReplaceDisruptionOperationType is a request to replace the member.
	ReplaceDisruptionOperationType DisruptionOperationType = "Replace"
)

// The reasons of the pod condition of a gate in spec.disruption. The reason of an answer is
// DisruptionAnswerPrefix and the id of the request.
const (
	// ReasonGateRequested: the gate is asked.
	ReasonGateRequested = "Requested"
	// ReasonGateNotRequested: the gate is not asked.
	ReasonGateNotRequested = "NotRequested"
	// DisruptionAnswerPrefix is the prefix of the reason of an answer.
	DisruptionAnswerPrefix = "Request"
)

// StatefulSetDisruption specifies how the controller takes pods out of service for an update, for a
// scale-down, or for a replacement that a user requested. It does not apply to pods that other
// clients delete, that are lost with their nodes, that have ended, that block an update, or that
// are deleted with the set.
type StatefulSetDisruption struct {
	// method is Delete (the default) or Evict. With Evict, the controller evicts ready pods instead
	// of deleting them, and restarts a ready pod in place only if it could evict it. So the
	// PodDisruptionBudgets of the namespace are respected. An eviction that is refused is tried
	// again after 10 to 60 seconds. Pods that are not ready are deleted.
	// +optional
	Method DisruptionMethodType `json:"method,omitempty" protobuf:"bytes,1,opt,name=method,casttype=DisruptionMethodType"`

	// gates are asked before a pod is removed. They are asked at the same time, and all of them
	// must agree. At most 8.
	// +optional
	// +listType=atomic
	// +k8s:optional
	// +k8s:maxItems=8
	Gates []DisruptionGate `json:"gates,omitempty" protobuf:"bytes,2,rep,name=gates"`
}

// DisruptionGate is asked before a pod is removed. A request consists of the annotation
// apps.statefulset.dev/disruption of the pod, whose JSON has an id, and of the condition of the pod
// with the status False and the reason Requested. An agent answers by setting the condition to
// True, with the reason Request and the id, such as Request7. An answer to an earlier request is
// ignored.
type DisruptionGate struct {
	// conditionType is the type of the pod condition. It must have a domain, such as
	// example.com/handed-over, but not apps.statefulset.dev, and must not be in the podConditions
	// of a step. If the pod template has it in readinessGates, a pod gets no traffic from the
	// request on. The controller sets the condition of a new pod to True.
	// +required
	// +k8s:required
	ConditionType string `json:"conditionType" protobuf:"bytes,1,opt,name=conditionType"`

	// operations are the operations for which the gate is asked: Update, ScaleDown and Replace.
	// Defaults to all. The gate is not asked about the update of a pod that is not ready, unless
	// the pod is not ready only because of a request.
	// +optional
	// +listType=atomic
	Operations []DisruptionOperationType `json:"operations,omitempty" protobuf:"bytes,3,rep,name=operations,casttype=DisruptionOperationType"`

	// timeoutSeconds is the number of seconds that the controller waits for the answer, counted
	// from the request. After that, it removes the pod without an answer. It must not be negative.
	// If it is not set, the controller waits without a limit.
	// +optional
	TimeoutSeconds *int32 `json:"timeoutSeconds,omitempty" protobuf:"varint,4,opt,name=timeoutSeconds"`
}

// ConcernedBy reports whether the gate is asked before an operation.
func (g *DisruptionGate) ConcernedBy(operation DisruptionOperationType) bool {
	return len(g.Operations) == 0 || slices.Contains(g.Operations, operation)
}
