// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package statefulset

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/apiserver/pkg/registry/rest"

	v1 "statefulset.dev/api/apps/v1"
	"statefulset.dev/identity"
	"statefulset.dev/registry/statefulset/settest"
)

// ran are the revisions that the pods of members run in a host.
type ran map[int]string

func (r ran) Members(_ context.Context, _ *v1.StatefulSet, tell func(int, types.UID, string, bool)) error {
	for _, ordinal := range slices.Sorted(maps.Keys(r)) {
		tell(ordinal, uidOf(ordinal), r[ordinal], true)
	}
	return nil
}

func TestDecidingAboutAnUpdate(t *testing.T) {
	const invalid = `StatefulSetRollout.apps.statefulset.dev "web" is invalid: `
	const late = `Operation cannot be fulfilled on statefulsets.apps.statefulset.dev "web": `
	promote := func(step int32) v1.StatefulSetRollout {
		return v1.StatefulSetRollout{Revision: "web-b", Action: v1.PromoteRollout, Step: step}
	}
	all, abort := v1.StatefulSetRollout{Revision: "web-b", Action: v1.PromoteAllRollout},
		v1.StatefulSetRollout{Revision: "web-b", Action: v1.AbortRollout}
	atStep := func(step int32) *v1.RolloutStatus {
		return &v1.RolloutStatus{Revision: "web-b", Step: step, Released: first(2)}
	}
	stuck := func() *v1.RolloutStatus {
		return &v1.RolloutStatus{Revision: "web-b", Step: 1, Superseded: first(1), Aborted: true}
	}
	plain := func(s *v1.StatefulSetSpec) { s.UpdateStrategy.RollingUpdate = nil }
	const noWayBack = " ran a revision that was never completed, so the update cannot be rolled back; change spec.template, or pause the update: kubectl sts rollout pause"
	for sentence, test := range map[string]struct {
		decision v1.StatefulSetRollout
		name     string
		spec     func(*v1.StatefulSetSpec)
		status   func(*v1.StatefulSetStatus)
		before   *v1.RolloutStatus
		host     Members
		admit    error
		dryRun   bool
		want     *v1.RolloutStatus
		err      string
	}{
		"the promotion of a step is noted": {
			decision: promote(1), before: atStep(1), want: &v1.RolloutStatus{Revision: "web-b", Step: 1, Released: first(2), PromotedStep: 1}},
		"one of several steps is noted": {
			decision: promote(2), before: atStep(1), want: &v1.RolloutStatus{Revision: "web-b", Step: 1, Released: first(2), PromotedStep: 2}},
		"one that was promoted further stays so": {decision: promote(1), before: &v1.RolloutStatus{Revision: "web-b", Step: 1, PromotedStep: 2},
			want: &v1.RolloutStatus{Revision: "web-b", Step: 1, PromotedStep: 2}},
		"the promotion of all steps is noted": {
			decision: all, before: atStep(1), want: &v1.RolloutStatus{Revision: "web-b", Step: 1, Released: first(2), PromotedAll: true}},
		"an abortion is noted": {
			decision: abort, before: atStep(2), want: &v1.RolloutStatus{Revision: "web-b", Step: 2, Released: first(2), Aborted: true}},
		"one that comes before the record begins": {decision: abort, want: &v1.RolloutStatus{Revision: "web-b", Aborted: true}},
		"one that comes before the record of the one before ends keeps whom that had reached": {decision: abort,
			before: &v1.RolloutStatus{Revision: "web-a", Step: 3, Released: first(1), PromotedAll: true},
			want:   &v1.RolloutStatus{Revision: "web-b", Released: first(1), Aborted: true}},
		"an abortion of an update without steps is noted": {
			decision: abort, spec: plain, want: &v1.RolloutStatus{Revision: "web-b", Aborted: true}},
		"a dry run is not noted": {decision: abort, before: atStep(1), dryRun: true, want: atStep(1)},

		"one without a revision and without an action": {
			err: invalid +
				`[revision: Required value: status.updateRevision of the set, action: Unsupported value: "": supported values: "Abort", "Promote", "PromoteAll"]`},
		"a promotion of no step": {
			decision: promote(0), err: invalid + "step: Invalid value: 0: must be 1 or more: the last step that is promoted"},
		"an abortion of a step": {decision: v1.StatefulSetRollout{Revision: "web-b", Action: v1.AbortRollout, Step: 1},
			err: invalid + "step: Invalid value: 1: only allowed with action Promote"},
		"a promotion of a step that there is not": {
			decision: promote(3), before: atStep(1), want: atStep(1), err: late + "there is no step 3: the number of steps is 2"},
		"a promotion that comes too late": {
			decision: promote(1), before: atStep(2), want: atStep(2), err: late + "step 1 is done: the update is at step 2"},
		"a promotion of an update without steps": {decision: all, spec: plain,
			err: late + "the update has no steps to promote"},
		"one about another update": {decision: v1.StatefulSetRollout{Revision: "web-a", Action: v1.AbortRollout},
			err: late + "the request is for the update to web-a, but the current update is to web-b"},
		"one about an update that is over": {decision: abort, status: func(s *v1.StatefulSetStatus) { s.CurrentRevision = "web-b" },
			err: late + "no update is in progress: web-b is the current revision"},
		"one about what nobody has seen yet": {decision: abort, status: func(s *v1.StatefulSetStatus) { s.ObservedGeneration = 0 },
			err: late + "the controller has not observed generation 1 of the set yet, only 0: check status.updateRevision, and try again"},
		"one about an update that was failed": {
			decision: all, before: &v1.RolloutStatus{Revision: "web-b", Step: 1, Rollback: true},
			want: &v1.RolloutStatus{Revision: "web-b", Step: 1, Rollback: true},
			err:  late + "the update to web-b is already rolled back; change spec.template, or retry the update with kubectl sts rollout restart"},
		"an abortion with nowhere to go back to": {decision: abort, before: &v1.RolloutStatus{
			Revision: "web-b", Step: 1, Superseded: first(1, 2)}, want: &v1.RolloutStatus{Revision: "web-b", Step: 1, Superseded: first(1, 2)},
			err: late + "web-1, web-2" + noWayBack},
		"one with nowhere to go back to, as only the pods tell": {
			decision: abort, spec: plain, host: ran{1: "web-0", 2: "web-0", 4: "", 5: "web-b", 6: "web-a"},
			err: late + "web-1 to web-2, web-4" + noWayBack},
		"one before whose record the pods are seen": {
			decision: abort, before: &v1.RolloutStatus{Revision: "web-a", Step: 3, Released: first(1)}, host: ran{1: "web-0"},
			want: &v1.RolloutStatus{Revision: "web-a", Step: 3, Released: first(1)}, err: late + "web-1" + noWayBack},
		"one of which it is not known where it would lead": {decision: abort, spec: plain, host: silent{}, err: "no answer"},
		"one that the record tells, whatever the pods": {decision: abort, before: atStep(2), host: silent{},
			want: &v1.RolloutStatus{Revision: "web-b", Step: 2, Released: first(2), Aborted: true}},
		"a promotion does not ask the host": {
			decision: promote(1), host: silent{}, want: &v1.RolloutStatus{Revision: "web-b", PromotedStep: 1}},
		"one of an update that was aborted and cannot go back": {
			decision: abort, before: stuck(), want: stuck(),
			err: late + "the update is already aborted, and web-1 ran a revision that was never completed, so it cannot be rolled back; change spec.template, or continue the update: kubectl sts rollout promote"},
		"a promotion takes an abortion back that leads nowhere": {
			decision: promote(1), before: stuck(), want: &v1.RolloutStatus{Revision: "web-b", Step: 1, Superseded: first(1), PromotedStep: 1}},
		"so does that of all steps": {
			decision: all, before: stuck(), want: &v1.RolloutStatus{Revision: "web-b", Step: 1, Superseded: first(1), PromotedAll: true}},
		"so it does where there are none": {
			decision: all, spec: plain, before: stuck(), want: &v1.RolloutStatus{Revision: "web-b", Step: 1, Superseded: first(1)}},
		"one of an update that was aborted, and goes back": {
			decision: all, before: &v1.RolloutStatus{Revision: "web-b", Step: 1, Aborted: true},
			want: &v1.RolloutStatus{Revision: "web-b", Step: 1, Aborted: true},
			err:  late + "the update to web-b is already rolled back; change spec.template, or retry the update with kubectl sts rollout restart"},
		"one about updates that do not roll": {decision: abort, spec: func(s *v1.StatefulSetSpec) {
			s.UpdateStrategy = v1.StatefulSetUpdateStrategy{Type: v1.OnDeleteStatefulSetStrategyType}
		}, err: late + "the update strategy is OnDelete: only updates with the strategy RollingUpdate can be promoted or aborted"},
		"one for another set of the name": {decision: v1.StatefulSetRollout{ObjectMeta: metav1.ObjectMeta{UID: "other"}, Revision: "web-b",
			Action: v1.AbortRollout}, err: late + "the request is for the set with UID other, but the set of this name has UID "},
		"one for a set of another name": {decision: v1.StatefulSetRollout{ObjectMeta: metav1.ObjectMeta{Name: "db"}, Revision: "web-b",
			Action: v1.AbortRollout}, err: `metadata.name is "db", must be "web" or empty: the request is for the update of that set`},
		"one for a set that does not exist": {name: "nope", decision: abort, err: `statefulsets.apps.statefulset.dev "nope" not found`},
		"one that admission refuses":        {decision: abort, admit: errors.New("not on Sundays"), err: "not on Sundays"},
	} {
		t.Run(sentence, func(t *testing.T) {
			s := newTestStorage(t)
			set := settest.Valid()
			set.Spec.UpdateStrategy = v1.StatefulSetUpdateStrategy{Type: v1.RollingUpdateStatefulSetStrategyType,
				RollingUpdate: &v1.RollingUpdateStatefulSetStrategy{
					Steps: []v1.RolloutStep{{Updated: intstr.FromInt32(1)}, {Updated: intstr.FromInt32(2)}}}}
			if test.spec != nil {
				test.spec(&set.Spec)
			}
			set = create(t, s, set)
			set.Status.ObservedGeneration, set.Status.CurrentRevision, set.Status.UpdateRevision, set.Status.Rollout = 1, "web-a", "web-b",
				test.before
			if test.status != nil {
				test.status(&set.Status)
			}
			if err := updateStatusAs(user.APIServerUser, s, set); err != nil {
				t.Fatalf("preparing the status: %v", err)
			}
			options := &metav1.CreateOptions{}
			if test.dryRun {
				options.DryRun = []string{metav1.DryRunAll}
			}
			if test.name == "" {
				test.name = "web"
			}
			if test.host == nil {
				test.host = ran{0: "web-a", 2: "web-b"}
			}
			admit := func(context.Context, runtime.Object) error { return test.admit }
			got, err := NewRolloutREST(s.Status, newScheme(t), test.host).Create(s.requestFor("rollout"), test.name, &test.decision,
				rest.ValidateObjectFunc(admit), options)
			if (err == nil) != (test.err == "") || err != nil && !strings.HasPrefix(err.Error(), test.err) {
				t.Errorf("got error %v, want %q", err, test.err)
			}
			after := storedSet(t, s)
			if test.want != nil && test.want.PromotedStep > 0 { // promotedStep counts the steps that the record has hashes of
				test.want.StepHashes = identity.StepHashes(after.Spec.UpdateStrategy.RollingUpdate.Steps)
			}
			if !equality.Semantic.DeepEqual(after.Status.Rollout, test.want) || after.Generation != 1 {
				t.Errorf("the status says %+v in generation %d, want %+v in generation 1", after.Status.Rollout, after.Generation, test.want)
			}
			if answer, ok := got.(*v1.StatefulSetRollout); err == nil && (!ok || answer.UID != set.UID || answer.Action != test.decision.Action) {
				t.Errorf("got the answer %+v, want the decision, with the UID of the set", got)
			}
		})
	}
}

func TestFourDecisionsThatDependOnPodsAreAnsweredAtATime(t *testing.T) {
	s := newTestStorage(t)
	set := create(t, s, settest.Valid())
	set.Status.ObservedGeneration, set.Status.CurrentRevision, set.Status.UpdateRevision = 1, "web-a", "web-b"
	if err := updateStatusAs(user.APIServerUser, s, set); err != nil {
		t.Fatalf("preparing the status: %v", err)
	}
	host := slow{pods{}, make(chan struct{}), make(chan struct{})}
	decisions := NewRolloutREST(s.Status, newScheme(t), host)
	abort := func() error {
		decision := &v1.StatefulSetRollout{Revision: "web-b", Action: v1.AbortRollout}
		_, err := decisions.Create(s.requestFor("rollout"), "web", decision, nil, &metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
		return err
	}
	answers := make(chan error)
	for range DecisionsAtOnce {
		go func() { answers <- abort() }()
		<-host.begun
	}
	const want = "4 other requests that depend on the pods of members are in progress, which is the limit; try again later"
	if err := abort(); err == nil || err.Error() != want {
		t.Errorf("one more: got error %v, want %q", err, want)
	}
	close(host.finish)
	for range DecisionsAtOnce {
		if err := <-answers; err != nil {
			t.Errorf("one of the first: got error %v, want none", err)
		}
	}
}

// previewing is a planner that knows the pods of members, and makes no plans.
type previewing struct {
	Planner
	ran
}

func (p previewing) Members(ctx context.Context, set *v1.StatefulSet, tell func(int, types.UID, string, bool)) error {
	return p.ran.Members(ctx, set, tell)
}

func TestThePlanOfADecisionIsRefusedAsTheDecisionIs(t *testing.T) {
	set := settest.Valid()
	set.Generation, set.Status.ObservedGeneration, set.Status.CurrentRevision, set.Status.UpdateRevision = 1, 1, "web-a", "web-b"
	for sentence, test := range map[string]struct {
		pods ran
		err  string
	}{
		"all members can go back": {pods: ran{0: "web-a", 2: "web-b"}},
		"one can not":             {pods: ran{0: "web-a", 2: "web-0"}, err: "web-2 ran a revision that was never completed"},
	} {
		t.Run(sentence, func(t *testing.T) {
			plans := &PlanREST{planner: previewing{ran: test.pods}}
			got, err := plans.decided(t.Context(), set, &v1.StatefulSetRollout{Revision: "web-b", Action: v1.AbortRollout})
			if (err == nil) != (test.err == "") || err != nil && !strings.Contains(err.Error(), test.err) {
				t.Errorf("got error %v, want %q", err, test.err)
			}
			if err == nil && !got.Status.Rollout.Aborted || set.Status.Rollout != nil {
				t.Errorf("the plan is made of %+v, and the set has %+v, want an aborted update, and the set as it was", got.Status.Rollout,
					set.Status.Rollout)
			}
		})
	}
}
