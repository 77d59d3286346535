// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clocktesting "k8s.io/utils/clock/testing"

	v1 "statefulset.dev/api/apps/v1"
	setsfake "statefulset.dev/client/clientset/versioned/fake"
)

func TestOnlyCountsOfAStatusMayBeBehind(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*v1.StatefulSetStatus)
		behind bool
	}{
		"one more member is Ready": {func(s *v1.StatefulSetStatus) {
			s.ReadyReplicas++
			s.AvailableReplicas++
			s.Conditions[0].Message = "2 of 3 members are available"
			s.LastProgressTime = &metav1.Time{Time: time.Unix(2000, 0)}
		}, true},
		"one more member exists, of the new revision": {func(s *v1.StatefulSetStatus) {
			s.Replicas++
			s.CurrentReplicas--
			s.UpdatedReplicas++
		}, true},
		"a condition turns":                 {func(s *v1.StatefulSetStatus) { s.Conditions[0].Status = corev1.ConditionTrue }, false},
		"a condition has another reason":    {func(s *v1.StatefulSetStatus) { s.Conditions[0].Reason = v1.ReasonNameTaken }, false},
		"another condition":                 {func(s *v1.StatefulSetStatus) { s.Conditions = nil }, false},
		"a generation is seen":              {func(s *v1.StatefulSetStatus) { s.ObservedGeneration++ }, false},
		"an update is complete":             {func(s *v1.StatefulSetStatus) { s.CurrentRevision = s.UpdateRevision }, false},
		"a template has another revision":   {func(s *v1.StatefulSetStatus) { s.UpdateRevision = "web-3" }, false},
		"the name of a revision was in use": {func(s *v1.StatefulSetStatus) { s.CollisionCount = new(int32(1)) }, false},
		"a member is Ready, and an update ends": {
			func(s *v1.StatefulSetStatus) { s.ReadyReplicas++; s.CurrentRevision = s.UpdateRevision }, false},
	} {
		t.Run(name, func(t *testing.T) {
			set := newSet("web")
			set.Status = v1.StatefulSetStatus{}
			term, _ := newTestTerm(t, set)
			clock := clocktesting.NewFakeClock(time.Unix(1000, 0))
			term.config.Clock = clock
			written := func() (n int) {
				for _, action := range term.config.Sets.(*setsfake.Clientset).Actions() {
					if action.Matches("update", "statefulsets/status") {
						n++
					}
				}
				return n
			}
			bring := func(what string, status v1.StatefulSetStatus, wantLeft time.Duration, wantWritten int) {
				t.Helper()
				left, err := term.updateStatus(t.Context(), set, status)
				if err != nil {
					t.Fatalf("%s: %v", what, err)
				}
				if left != wantLeft || written() != wantWritten {
					t.Errorf("%s: got %d writes and %s to wait, want %d and %s", what, written(), left, wantWritten, wantLeft)
				}
			}
			set.Status = v1.StatefulSetStatus{Replicas: 1, CurrentReplicas: 1, CurrentRevision: "web-1", UpdateRevision: "web-2",
				Conditions: []v1.StatefulSetCondition{{Type: v1.StatefulSetReady, Status: corev1.ConditionFalse, Reason: v1.ReasonUpdating}}}
			next := *set.Status.DeepCopy()
			c.change(&next)

			bring("no other status", set.Status, 0, 0)
			bring("nothing was written for long", next, 0, 1)
			clock.Step(statusInterval / 4)
			if !c.behind {
				bring("soon after", next, 0, 2)
				return
			}
			bring("soon after", next, statusInterval*3/4, 1)
			clock.Step(statusInterval * 3 / 4)
			bring("after a while", next, 0, 2)
		})
	}
}
