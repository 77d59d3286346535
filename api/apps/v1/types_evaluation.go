// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package v1

import (
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// StatefulSetEvaluation is a mark that the controller writes before it evaluates expressions of a
// set for the first time, and removes when the evaluation is complete. If another process takes
// over and finds it, the process that wrote it ended during the evaluation. Only the controller
// writes it.
type StatefulSetEvaluation struct {
	// generation is the generation of the spec whose expressions are evaluated.
	// +optional
	Generation int64 `json:"generation,omitempty" protobuf:"varint,1,opt,name=generation"`
	// inputs is a digest of the expressions and of everything that they read and that a user can
	// change. A mark is ignored if its digest differs from that of the spec.
	Inputs string `json:"inputs" protobuf:"bytes,2,opt,name=inputs"`
	// fields are the fields of the set that contain the expressions.
	// +optional
	// +listType=atomic
	Fields []string `json:"fields,omitempty" protobuf:"bytes,3,rep,name=fields"`
	// deaths is the number of processes that ended while they evaluated these inputs. Ends that
	// follow each other within seconds count once. After one, the inputs are first evaluated in a
	// separate process. If that process ends as well, they are not evaluated any more.
	// +optional
	Deaths int32 `json:"deaths,omitempty" protobuf:"varint,4,opt,name=deaths"`
	// holder is the process that evaluates the expressions. It is empty if the evaluation is
	// stopped, or is complete but the status is not written yet.
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

// IsCompleted reports whether the inputs were evaluated, and the status is not written yet.
func (e *StatefulSetEvaluation) IsCompleted() bool {
	return e != nil && e.StoppedAt == nil && e.Holder == ""
}

// Release is the value of EvaluateAnnotation that releases a set whose evaluation is stopped. It is
// empty if the evaluation is not stopped. It releases this stop only, and no later one.
func (e *StatefulSetEvaluation) Release() string {
	if !e.IsStopped() {
		return ""
	}
	return e.StoppedAt.UTC().Format(time.RFC3339)
}
