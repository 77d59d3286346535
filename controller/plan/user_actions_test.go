// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"testing"

	apiequality "k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "statefulset.dev/api/apps/v1"
	"statefulset.dev/identity"
)

func TestRecordedRequestsAreObserved(t *testing.T) {
	restart := v1.UserAction{Action: v1.RestartUserAction, User: "ann", Generation: 2}
	for sentence, c := range map[string]struct {
		generation int64
		held       bool
		stopped    bool
		revision   string
	}{
		"the restart of this generation gets the update revision":                 {generation: 2, revision: "update"},
		"the restart of an earlier generation stays without":                      {generation: 3},
		"the restart of a held set stays without, as its revision is not created": {generation: 2, held: true},
		"the restart of a set whose evaluation is stopped stays without":          {generation: 2, stopped: true},
	} {
		t.Run(sentence, func(t *testing.T) {
			h := newHost(t, Compute)
			h.set.Generation, h.set.Status.UserActions = c.generation, []v1.UserAction{restart}
			if c.held {
				h.set.Annotations = map[string]string{v1.HoldAnnotation: "repair"}
			}
			if c.stopped {
				h.set.Spec.Identity = &v1.MemberIdentity{Transforms: []v1.Transform{{Path: "/metadata/annotations/x", Expression: "'x'"}}}
				of := identity.EvaluationOf(h.set)
				h.set.Status.Evaluation = &v1.StatefulSetEvaluation{Inputs: of.Inputs, Fields: of.Fields, StoppedAt: &metav1.Time{Time: h.now}}
			}
			status := Compute(h.world()).Status
			want := restart
			want.Observed = true
			if c.revision != "" {
				want.Revision = status.UpdateRevision
			}
			if got := status.UserActions; !apiequality.Semantic.DeepEqual(got, []v1.UserAction{want}) || c.revision != "" && want.Revision == "" {
				t.Errorf("the status has %+v, want %+v", got, want)
			}
			if h.set.Status.UserActions[0].Observed {
				t.Errorf("the set that was planned for has %+v, want it unchanged", h.set.Status.UserActions[0])
			}
		})
	}
}
