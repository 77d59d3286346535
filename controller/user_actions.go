// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"time"

	corev1 "k8s.io/api/core/v1"

	v1 "statefulset.dev/api/apps/v1"
	"statefulset.dev/identity"
)

// userActionEvents are events about requests of users that the controller has just observed. The
// event of a released evaluation is emitted when the expressions are evaluated.
func userActionEvents(set *v1.StatefulSet, after *v1.StatefulSetStatus) (events []event) {
	reasons := map[v1.UserActionType]string{
		v1.PromoteUserAction: v1.ReasonRolloutPromoted, v1.PromoteAllUserAction: v1.ReasonRolloutPromoted,
		v1.AbortUserAction:   v1.ReasonRolloutAborted,
		v1.RestartUserAction: v1.ReasonRolloutRestarted, v1.ReplaceUserAction: v1.ReasonReplacementRequested,
		v1.ReplaceLostUserAction: v1.ReasonLostNodeReported,
	}
	for i := range after.UserActions {
		a := &after.UserActions[i]
		before, reason := set.Status.UserAction(a.Action), reasons[a.Action]
		if reason != "" && a.Observed && before != nil && !before.Observed {
			events = append(events, event{eventType: corev1.EventTypeNormal, reason: reason, text: identity.DescribeUserAction(set.Name, a)})
		}
	}
	return events
}

// releasedBy says who requested another evaluation of a set's expressions, as far as the status
// records it: a release from before the stop does not count.
func releasedBy(set *v1.StatefulSet) string {
	a := set.Status.UserAction(v1.EvaluateUserAction)
	stopped, err := time.Parse(time.RFC3339, set.Annotations[v1.EvaluateAnnotation])
	if a == nil || err != nil || a.Time.Time.Before(stopped) {
		return "a user requested"
	}
	return identity.UserText(a.User) + " requested at " + a.Time.UTC().Format(time.RFC3339)
}
