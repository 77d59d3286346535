// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package v1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// MostOfUserName is the maximum length of a user name in a status, in bytes.
const MostOfUserName = 256

// UserActionType is a kind of request that a user makes about a set.
// +enum
type UserActionType string

const (
	// PromoteUserAction promotes steps of an update, up to and including one of them.
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
	// ReplaceLostUserAction replaces members on a node that the user reports as lost.
	ReplaceLostUserAction UserActionType = "ReplaceLost"
	// EvaluateUserAction releases a stopped evaluation: the expressions are evaluated once more.
	EvaluateUserAction UserActionType = "Evaluate"
)

// UserAction is the last request of one kind about a set: which user made it, when, and for what.
// The server writes it, and the controller completes it.
type UserAction struct {
	// action is the kind of the request.
	Action UserActionType `json:"action" protobuf:"bytes,1,opt,name=action,casttype=UserActionType"`
	// user is the name of the user as the server authenticated the request. If a user impersonates
	// another user, it is the name of the other user. At most 256 bytes: a longer name is cut, and
	// ends with "..." and 16 hexadecimal digits of the SHA-256 of the whole name.
	User string `json:"user" protobuf:"bytes,2,opt,name=user"`
	// time is when the server accepted the request, by the clock of the server.
	// +k8s:opaqueType
	Time metav1.Time `json:"time" protobuf:"bytes,3,opt,name=time"`
	// generation is metadata.generation of the set with the request.
	// +optional
	Generation int64 `json:"generation,omitempty" protobuf:"varint,4,opt,name=generation"`
	// revision is the update revision that the user promoted, aborted or, with Restart, started.
	// The controller adds it after a restart, unless the set changes before that.
	// +optional
	Revision string `json:"revision,omitempty" protobuf:"bytes,5,opt,name=revision"`
	// step is the last step that the user promoted, from 1. Only Promote has it.
	// +optional
	Step int32 `json:"step,omitempty" protobuf:"varint,6,opt,name=step"`
	// ordinals are the members that the user had replaced. At most 32 ranges.
	// +optional
	// +listType=atomic
	Ordinals []OrdinalRange `json:"ordinals,omitempty" protobuf:"bytes,7,rep,name=ordinals"`
	// lostNode is the node that the user reported as lost. Only ReplaceLost has it.
	// +optional
	LostNode string `json:"lostNode,omitempty" protobuf:"bytes,8,opt,name=lostNode"`
	// observed is true when the controller has seen the request. The controller then emits the event
	// about it.
	// +optional
	Observed bool `json:"observed,omitempty" protobuf:"varint,9,opt,name=observed"`
}

// UserAction returns the last request of a kind, or nil if there is none.
func (s *StatefulSetStatus) UserAction(action UserActionType) *UserAction {
	for i := range s.UserActions {
		if s.UserActions[i].Action == action {
			return &s.UserActions[i]
		}
	}
	return nil
}
