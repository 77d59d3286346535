// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package v1

import (
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// StatefulSetEvaluation is a mark that the controller writes before it evaluates expressions of a
// StatefulSet for the first time, and removes when the evaluation has completed. If it is still there
// when another process takes over, the process that wrote it ended in between. Only the controller
// writes it.
type StatefulSetEvaluation struct {
	// generation is the generation of the spec whose expressions are evaluated.
	// +optional
	Generation int64 `json:"generation,omitempty" protobuf:"varint,1,opt,name=generation"`
	// inputs is a digest of the expressions and of all that they read and that a user can change.
	// A mark with another digest than the spec has does not count.
	Inputs string `json:"inputs" protobuf:"bytes,2,opt,name=inputs"`
	// fields are the fields of the set that have the expressions.
	// +optional
	// +listType=atomic
	Fields []string `json:"fields,omitempty" protobuf:"bytes,3,rep,name=fields"`
	// deaths is how many processes ended while they evaluated these inputs, as far as they count. After
	// one, the inputs are first evaluated in a process of their own. If this process ends as well, they
	// are not evaluated any more.
	// +optional
	Deaths int32 `json:"deaths,omitempty" protobuf:"varint,4,opt,name=deaths"`
	// holder is the process that evaluates. It is empty if the evaluation is stopped, and if it has
	// completed and the status has yet to be written.
	// +optional
	Holder string `json:"holder,omitempty" protobuf:"bytes,5,opt,name=holder"`
	// startedAt is when the evaluation began.
	// +optional
	// +k8s:opaqueType
	StartedAt *metav1.Time `json:"startedAt,omitempty" protobuf:"bytes,6,opt,name=startedAt"`
	// stoppedAt is when the controller stopped evaluating these inputs. Until the inputs change,
	// or a user releases the set with kubectl sts evaluate, the controller leaves the pods, claims
	// and objects of the set as they are. Absent unless the evaluation is stopped.
	// +optional
	// +k8s:opaqueType
	StoppedAt *metav1.Time `json:"stoppedAt,omitempty" protobuf:"bytes,7,opt,name=stoppedAt"`
}

// IsStopped reports whether the controller does not evaluate the inputs any more.
func (e *StatefulSetEvaluation) IsStopped() bool { return e != nil && e.StoppedAt != nil }

// IsCompleted reports whether the inputs were evaluated, and the status has yet to be written.
func (e *StatefulSetEvaluation) IsCompleted() bool {
	return e != nil && e.StoppedAt == nil && e.Holder == ""
}

// Release is the value of the annotation EvaluateAnnotation that releases a set whose evaluation is
// stopped, empty if it is not. It releases this stop only, and no later one.
func (e *StatefulSetEvaluation) Release() string {
	if !e.IsStopped() {
		return ""
	}
	return e.StoppedAt.UTC().Format(time.RFC3339)
}
