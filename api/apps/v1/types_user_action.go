// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package v1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// MostOfUserName is how many bytes of the name of a user a status has at most.
const MostOfUserName = 256

// UserActionType is a sort of request that a person makes about a StatefulSet.
// +enum
type UserActionType string

const (
	// PromoteUserAction promotes steps of an update, up to one of them.
	PromoteUserAction UserActionType = "Promote"
	// PromoteAllUserAction ends the steps of an update.
	PromoteAllUserAction UserActionType = "PromoteAll"
	// AbortUserAction aborts an update.
	AbortUserAction UserActionType = "Abort"
	// RestartUserAction changes the annotation kubectl.kubernetes.io/restartedAt of the template, as
	// kubectl rollout restart does.
	RestartUserAction UserActionType = "Restart"
	// ReplaceUserAction replaces members.
	ReplaceUserAction UserActionType = "Replace"
	// ReplaceLostUserAction replaces members whose node is lost, as the user says.
	ReplaceLostUserAction UserActionType = "ReplaceLost"
	// EvaluateUserAction has expressions evaluated once more whose evaluation was stopped.
	EvaluateUserAction UserActionType = "Evaluate"
)

// UserAction is the last request of one sort about a StatefulSet: which user made it, when, and what
// it was about. Only the server writes it, and the controller completes it.
type UserAction struct {
	// action is the sort of the request.
	Action UserActionType `json:"action" protobuf:"bytes,1,opt,name=action,casttype=UserActionType"`
	// user is the name of the user as the server authenticated the request. If a user impersonates
	// another one, it is the other one. At most 256 bytes: a longer name is cut, and ends with "..." and
	// 16 hexadecimal digits of the SHA-256 of the whole name.
	User string `json:"user" protobuf:"bytes,2,opt,name=user"`
	// time is when the server accepted the request, by the clock of the server.
	// +k8s:opaqueType
	Time metav1.Time `json:"time" protobuf:"bytes,3,opt,name=time"`
	// generation is metadata.generation of the set that has the request.
	// +optional
	Generation int64 `json:"generation,omitempty" protobuf:"varint,4,opt,name=generation"`
	// revision is the update revision that the user promoted, aborted or, with Restart, started. After a
	// restart, the controller adds it; it stays absent if the set changes before that.
	// +optional
	Revision string `json:"revision,omitempty" protobuf:"bytes,5,opt,name=revision"`
	// step is the last step that the user promoted, from 1. Only Promote has it.
	// +optional
	Step int32 `json:"step,omitempty" protobuf:"varint,6,opt,name=step"`
	// ordinals are those of the members that the user had replaced. At most 32 ranges.
	// +optional
	// +listType=atomic
	Ordinals []OrdinalRange `json:"ordinals,omitempty" protobuf:"bytes,7,rep,name=ordinals"`
	// lostNode is the node that is lost, as the user says. Only ReplaceLost has it.
	// +optional
	LostNode string `json:"lostNode,omitempty" protobuf:"bytes,8,opt,name=lostNode"`
	// observed is true once the controller has seen the request. It then emits the event about it.
	// +optional
	Observed bool `json:"observed,omitempty" protobuf:"varint,9,opt,name=observed"`
}

// UserAction is the last request of a sort, nil if there is none.
func (s *StatefulSetStatus) UserAction(action UserActionType) *UserAction {
	for i := range s.UserActions {
		if s.UserActions[i].Action == action {
			return &s.UserActions[i]
		}
	}
	return nil
}
