// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package statefulset

import (
	"context"
	"slices"

	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/apiserver/pkg/authentication/user"
	genericrequest "k8s.io/apiserver/pkg/endpoints/request"

	v1 "statefulset.dev/api/apps/v1"
	"statefulset.dev/identity"
)

// recorder records in the status of a set which user requested what.
type recorder struct {
	// unknown returns the fields of a set that the emulated version does not have. May be nil.
	unknown func(runtime.Object) field.ErrorList
}

// recordAction records an action of the user of a request, at the current time. The user is the
// authenticated user, or the user that this one impersonates. It does not depend on anything that
// the client wrote.
func recordAction(ctx context.Context, set *v1.StatefulSet, action v1.UserAction) {
	action.User = user.Anonymous
	if sender, ok := genericrequest.UserFrom(ctx); ok {
		action.User = sender.GetName()
	}
	action.Time = metav1.Now()
	identity.RecordUserAction(set, action)
}

// recordUpdate records the action of an update of the set itself: a restart, or the release of an
// evaluation. If the server emulates a version without status.userActions, it must not store them,
// and recordUpdate records nothing.
func (r *recorder) recordUpdate(ctx context.Context, set, old *v1.StatefulSet) {
	if r.unknown != nil && len(r.unknown(&v1.StatefulSet{Status: v1.StatefulSetStatus{UserActions: make([]v1.UserAction, 1)}})) > 0 {
		return
	}
	if at := set.Spec.Template.Annotations[identity.RestartedAtAnnotation]; at != "" &&
		at != old.Spec.Template.Annotations[identity.RestartedAtAnnotation] {
		recordAction(ctx, set, v1.UserAction{Action: v1.RestartUserAction})
	}
	recordRelease(ctx, set, old)
}

// recordRelease records the release of an evaluation. It ignores an annotation that releases
// nothing.
func recordRelease(ctx context.Context, set, old *v1.StatefulSet) {
	if releases(set, old) {
		recordAction(ctx, set, v1.UserAction{Action: v1.EvaluateUserAction})
	}
}

func releases(set, old *v1.StatefulSet) bool {
	release := set.Annotations[v1.EvaluateAnnotation]
	return release != "" && release == old.Status.Evaluation.Release() && release != old.Annotations[v1.EvaluateAnnotation]
}

// keepsActions reports whether a write to the status of a set does not change the recorded actions,
// except for the release that the write itself is.
func keepsActions(set, old *v1.StatefulSet) bool {
	after, before := slices.Clone(set.Status.UserActions), slices.Clone(old.Status.UserActions)
	if releases(set, old) {
		isRelease := func(a v1.UserAction) bool { return a.Action == v1.EvaluateUserAction }
		after, before = slices.DeleteFunc(after, isRelease), slices.DeleteFunc(before, isRelease)
	}
	return equality.Semantic.DeepEqual(after, before)
}

// recordDecision records a decision about an update.
func recordDecision(ctx context.Context, set *v1.StatefulSet, decision *v1.StatefulSetRollout) {
	recordAction(ctx, set, v1.UserAction{Action: v1.UserActionType(decision.Action), Revision: decision.Revision, Step: decision.Step})
}

// recordReplacement records a request to replace members.
func recordReplacement(ctx context.Context, set *v1.StatefulSet, request *v1.StatefulSetReplacement) {
	action := v1.UserAction{Action: v1.ReplaceUserAction, Ordinals: request.Ordinals, LostNode: request.LostNode}
	if request.LostNode != "" {
		action.Action = v1.ReplaceLostUserAction
	}
	recordAction(ctx, set, action)
}
