// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package forecast

import (
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "statefulset.dev/api/apps/v1"
	"statefulset.dev/controller/plan"
	"statefulset.dev/identity"
)

func TestAPlanOfASetThatIsSetAsideSaysWhatToDo(t *testing.T) {
	set := web()
	set.Spec.Identity = &v1.MemberIdentity{Transforms: []v1.Transform{{Path: "/metadata/annotations/a", Expression: "SET"}}}
	of := identity.EvaluationOf(set)
	set.Status.Evaluation = &v1.StatefulSetEvaluation{Inputs: of.Inputs, Fields: of.Fields, Deaths: 2, StoppedAt: &metav1.Time{Time: noon}}
	world := plan.World{Set: set, Now: noon}
	for name, got := range map[string]*v1.StatefulSetPlan{"as it is": Now(world), "in advance": played(t, world)} {
		steps := 0
		for _, round := range got.Rounds {
			steps += len(round.Steps)
		}
		const want = "kubectl sts evaluate web"
		if got.Outcome != v1.PlanStuck || got.Reason != v1.ReasonEvaluationStopped || !strings.Contains(got.Message, want) || steps > 0 {
			t.Errorf("%s: got %d steps, outcome %s, reason %s: %s; want none, %s, %s, and %q", name, steps, got.Outcome, got.Reason, got.Message,
				v1.PlanStuck, v1.ReasonEvaluationStopped, want)
		}
	}
}
