// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "statefulset.dev/api/apps/v1"
	"statefulset.dev/identity"
)

// The record of an update holds for the steps that it has hashes of, and for others as far as these
// have the same content.
func TestStepsAreKnownByTheirContent(t *testing.T) {
	for name, c := range map[string]struct {
		before, now         string
		step, promoted      int32
		wantStep, wantPromo int32
		forgets             bool
	}{
		"nothing changes":                   {before: "1/2:manual", now: "1/2:manual", step: 2, promoted: 1, wantStep: 2, wantPromo: 1},
		"a done step is removed":            {before: "1/2:manual", now: "2:manual", step: 2, wantStep: 1},
		"the step that it is at is removed": {before: "1/2:manual/3", now: "1/3", step: 2, wantStep: 2, forgets: true},
		"all steps are removed":             {before: "1/2:manual", now: "none", step: 2, wantStep: 1, forgets: true},
		"a step is inserted before the present": {
			before: "1/3:manual", now: "1/2:manual/3:manual", step: 2, promoted: 1, wantStep: 2, wantPromo: 1, forgets: true},
		"a step is inserted before all": {
			before: "2:manual/3", now: "1:manual/2:manual/3", step: 2, promoted: 1, wantStep: 1, forgets: true},
		"a step is added after the last":        {before: "1/2", now: "1/2/3:manual", step: 3, wantStep: 3, forgets: true},
		"a later step changes":                  {before: "1/2/3", now: "1/2/3:manual", step: 2, wantStep: 2},
		"the present step asks for an approval": {before: "1/2", now: "1/2:manual", step: 2, wantStep: 2, forgets: true},
		"the present step bakes for longer":     {before: "1/2:bake=9", now: "1/2:bake=99", step: 2, wantStep: 2, forgets: true},
		"the present step asks for a condition": {before: "1/2", now: "1/2:if=ok", step: 2, wantStep: 2, forgets: true},
		"a done step asks for an approval":      {before: "1/2", now: "1:manual/2", step: 2, wantStep: 1, forgets: true},
		"an approved step changes":              {before: "1:manual/3", now: "2:manual/3", step: 1, promoted: 1, wantStep: 1, forgets: true},
		"a later step was approved, too": {
			before: "1:manual/2:manual", now: "2:manual", step: 1, promoted: 2, wantStep: 1, wantPromo: 1, forgets: true},
		"a later step was not approved": {
			before: "1:manual/2:manual", now: "2:manual", step: 1, promoted: 1, wantStep: 1, forgets: true},
		"two steps change places":                {before: "1/2:manual/3", now: "2:manual/1/3", step: 2, wantStep: 1},
		"nothing is recorded but an approval":    {before: "1:manual", now: "2:manual", step: 0, promoted: 1, wantStep: 0},
		"an earlier version has kept the record": {before: "none", now: "1/2:manual", step: 2, promoted: 1, wantStep: 2, wantPromo: 1},
		"an update without steps is given some":  {before: "none", now: "1:manual", step: 1, wantStep: 1, forgets: true},
	} {
		t.Run(name, func(t *testing.T) {
			h := &host{t: t}
			set := &v1.StatefulSet{}
			set.Spec.UpdateStrategy = v1.StatefulSetUpdateStrategy{Type: v1.RollingUpdateStatefulSetStrategyType,
				RollingUpdate: &v1.RollingUpdateStatefulSetStrategy{Steps: h.stepsOf(c.now)}}
			since := metav1.NewTime(time.Unix(1, 0))
			record := v1.RolloutStatus{Step: c.step, PromotedStep: c.promoted, BakeStartTime: &since, Passed: []v1.OrdinalRange{{First: 1}},
				StepHashes: identity.StepHashes(h.stepsOf(c.before))}
			(&facts{world: World{Set: set}}).matchSteps(&record)
			if record.Step != c.wantStep || record.PromotedStep != c.wantPromo {
				t.Errorf("got step %d, promoted to %d; want step %d, promoted to %d", record.Step, record.PromotedStep, c.wantStep, c.wantPromo)
			}
			if forgot := record.BakeStartTime == nil && record.Passed == nil; forgot != c.forgets {
				t.Errorf("forgets since when the step bakes: got %t, want %t", forgot, c.forgets)
			}
		})
	}
}

// Only an update whose record leaves nothing open completes, and when its members are available.
func TestWhenARecordedUpdateMayComplete(t *testing.T) {
	rollback := &v1.RollingUpdateStatefulSetStrategy{FailurePolicy: new(v1.RollbackRolloutFailurePolicy)}
	for name, c := range map[string]struct {
		rolling             *v1.RollingUpdateStatefulSetStrategy
		stored              v1.RolloutStatus
		inSteps             bool
		replicas, available int32
		want                bool
	}{
		"all members are available":             {rolling: rollback, replicas: 3, available: 3, want: true},
		"a member is not available":             {rolling: rollback, replicas: 3, available: 2},
		"a rollback is possible, and no member": {rolling: rollback},
		"the steps are done, and no member":     {rolling: &v1.RollingUpdateStatefulSetStrategy{}, want: true},
		"it is paused":                          {rolling: &v1.RollingUpdateStatefulSetStrategy{Paused: new(true)}, replicas: 3, available: 3},
		"it is paused, and no member":           {rolling: &v1.RollingUpdateStatefulSetStrategy{Paused: new(true)}},
		"it is at a step":                       {rolling: rollback, inSteps: true, replicas: 3, available: 3},
		"it was aborted":                        {stored: v1.RolloutStatus{Aborted: true}, replicas: 3, available: 3},
		"it was rolled back":                    {stored: v1.RolloutStatus{Rollback: true}},
	} {
		t.Run(name, func(t *testing.T) {
			set := &v1.StatefulSet{Spec: v1.StatefulSetSpec{Replicas: &c.replicas}}
			set.Spec.UpdateStrategy = v1.StatefulSetUpdateStrategy{Type: v1.RollingUpdateStatefulSetStrategyType, RollingUpdate: c.rolling}
			f := &facts{
				world: World{Set: set}, roster: identity.OrdinalsOf(set), rollout: &rollout{stored: c.stored, progress: progress{inSteps: c.inSteps}}}
			if got := f.mayComplete(&v1.StatefulSetStatus{AvailableReplicas: c.available}); got != c.want {
				t.Errorf("got %t, want %t", got, c.want)
			}
		})
	}
}
