// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package statefulset

import (
	"context"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/apiserver/pkg/authentication/user"
	apirequest "k8s.io/apiserver/pkg/endpoints/request"
	"k8s.io/apiserver/pkg/registry/rest"

	v1 "statefulset.dev/api/apps/v1"
	"statefulset.dev/identity"
	"statefulset.dev/registry/statefulset/settest"
)

// requestOf is the context of a request of ann for a subresource, "" for the set.
func (s Storage) requestOf(subresource string) context.Context {
	return apirequest.WithUser(s.requestFor(subresource), &user.DefaultInfo{Name: "ann"})
}

// updateOf writes a set as ann.
func updateOf(t *testing.T, s Storage, set *v1.StatefulSet, dryRun ...string) {
	t.Helper()
	if _, _, err := s.StatefulSet.Update(s.requestOf(""), set.Name, rest.DefaultUpdatedObjectInfo(set), rest.ValidateAllObjectFunc,
		rest.ValidateAllObjectUpdateFunc, false, &metav1.UpdateOptions{DryRun: dryRun}); err != nil {
		t.Fatalf("updating the set: %v", err)
	}
}

const stoppedAt = "2026-01-02T03:04:05Z"

// midway creates a set in the middle of an update, whose evaluation is stopped, and of which bob had a
// member replaced before.
func midway(t *testing.T, s Storage) *v1.StatefulSet {
	t.Helper()
	set := settest.Valid()
	set.Spec.UpdateStrategy.RollingUpdate = &v1.RollingUpdateStatefulSetStrategy{
		Steps: []v1.RolloutStep{{Updated: intstr.FromInt32(1)}, {Updated: intstr.FromInt32(2)}}}
	set = create(t, s, set)
	stopped, err := time.Parse(time.RFC3339, stoppedAt)
	if err != nil {
		t.Fatal(err)
	}
	set.Status.ObservedGeneration, set.Status.CurrentRevision, set.Status.UpdateRevision = 1, "web-a", "web-b"
	set.Status.Evaluation = &v1.StatefulSetEvaluation{Inputs: "digest", StoppedAt: &metav1.Time{Time: stopped}}
	set.Status.UserActions = earlier()
	if err := updateStatusAs(user.APIServerUser, s, set); err != nil {
		t.Fatalf("preparing the status: %v", err)
	}
	return storedSet(t, s)
}

func earlier() []v1.UserAction {
	return []v1.UserAction{
		{Action: v1.ReplaceUserAction, User: "bob", Time: metav1.Unix(1, 0), Generation: 1, Ordinals: first(0), Observed: true}}
}

func TestWhoDidItIsRecorded(t *testing.T) {
	decide := func(about v1.StatefulSetRollout) func(*testing.T, Storage, *v1.StatefulSet) {
		return func(t *testing.T, s Storage, _ *v1.StatefulSet) {
			if _, err := NewRolloutREST(s.Status, newScheme(t), ran{0: "web-a"}).Create(s.requestOf("rollout"), "web", &about,
				rest.ValidateAllObjectFunc, &metav1.CreateOptions{}); err != nil {
				t.Fatal(err)
			}
		}
	}
	replace := func(request v1.StatefulSetReplacement) func(*testing.T, Storage, *v1.StatefulSet) {
		return func(t *testing.T, s Storage, _ *v1.StatefulSet) {
			if _, err := NewReplaceREST(s.Status, newScheme(t), pods{0: true, 1: true, 2: true}).Create(s.requestOf("replace"), "web", &request,
				rest.ValidateAllObjectFunc, &metav1.CreateOptions{}); err != nil {
				t.Fatal(err)
			}
		}
	}
	restarted := func(at string) func(*v1.StatefulSet) {
		return func(set *v1.StatefulSet) {
			metav1.SetMetaDataAnnotation(&set.Spec.Template.ObjectMeta, identity.RestartedAtAnnotation, at)
		}
	}
	change := func(changes ...func(*v1.StatefulSet)) func(*testing.T, Storage, *v1.StatefulSet) {
		return func(t *testing.T, s Storage, set *v1.StatefulSet) {
			for _, c := range changes {
				c(set)
				updateOf(t, s, set)
				set = storedSet(t, s)
			}
		}
	}
	released := func(set *v1.StatefulSet) {
		metav1.SetMetaDataAnnotation(&set.ObjectMeta, v1.EvaluateAnnotation, stoppedAt)
	}
	for sentence, c := range map[string]struct {
		do   func(*testing.T, Storage, *v1.StatefulSet)
		want v1.UserAction
	}{
		"a promotion of a step": {decide(v1.StatefulSetRollout{Revision: "web-b", Action: v1.PromoteRollout, Step: 1}),
			v1.UserAction{Action: v1.PromoteUserAction, Generation: 1, Revision: "web-b", Step: 1}},
		"an abort": {decide(v1.StatefulSetRollout{Revision: "web-b", Action: v1.AbortRollout}),
			v1.UserAction{Action: v1.AbortUserAction, Generation: 1, Revision: "web-b"}},
		"a promotion of all steps": {decide(v1.StatefulSetRollout{Revision: "web-b", Action: v1.PromoteAllRollout}),
			v1.UserAction{Action: v1.PromoteAllUserAction, Generation: 1, Revision: "web-b"}},
		"a replacement, in the place of the earlier one": {replace(v1.StatefulSetReplacement{Ordinals: first(2)}),
			v1.UserAction{Action: v1.ReplaceUserAction, Generation: 1, Ordinals: first(2)}},
		"a replacement because of a lost node": {replace(v1.StatefulSetReplacement{Ordinals: first(2), LostNode: "node-1"}),
			v1.UserAction{Action: v1.ReplaceLostUserAction, Generation: 1, Ordinals: first(2), LostNode: "node-1"}},
		"a restart": {change(restarted("now")), v1.UserAction{Action: v1.RestartUserAction, Generation: 2}},
		"a restart whose manifest names another user": {
			change(restarted("now"), forged), v1.UserAction{Action: v1.RestartUserAction, Generation: 2}},
		"no update that leaves the annotation as it was": {change(restarted("now"), func(s *v1.StatefulSet) { s.Spec.MinReadySeconds = 9 }),
			v1.UserAction{Action: v1.RestartUserAction, Generation: 2}},
		"no update that removes the annotation": {
			change(restarted("now"), restarted("")), v1.UserAction{Action: v1.RestartUserAction, Generation: 2}},
		"the release of an evaluation": {change(released), v1.UserAction{Action: v1.EvaluateUserAction, Generation: 1}},
		"the release of an evaluation by a write to status": {
			releaseByStatus(released), v1.UserAction{Action: v1.EvaluateUserAction, Generation: 1}},
	} {
		t.Run(sentence, func(t *testing.T) {
			s := newTestStorage(t)
			set := midway(t, s)
			before := time.Now().Truncate(time.Second)
			c.do(t, s, set)
			all := storedSet(t, s).Status
			got := all.UserAction(c.want.Action)
			if got == nil {
				t.Fatalf("the status has %+v, want %s in it", all.UserActions, c.want.Action)
			}
			if at := got.Time.Time; at.Before(before) || at.After(time.Now()) {
				t.Errorf("the time is %v, want that of the request", at)
			}
			c.want.User, c.want.Time = "ann", got.Time
			if !equality.Semantic.DeepEqual(*got, c.want) {
				t.Errorf("the status has %+v, want %+v", *got, c.want)
			}
			if c.want.Action != v1.ReplaceUserAction && !equality.Semantic.DeepEqual(*all.UserAction(v1.ReplaceUserAction), earlier()[0]) {
				t.Errorf("of earlier requests the status has %+v, want %+v", all.UserAction(v1.ReplaceUserAction), earlier()[0])
			}
		})
	}
}

// forged puts another user into what a client writes.
func forged(set *v1.StatefulSet) {
	for i := range set.Status.UserActions {
		set.Status.UserActions[i].User = "eve"
	}
}

func releaseByStatus(released func(*v1.StatefulSet)) func(*testing.T, Storage, *v1.StatefulSet) {
	return func(t *testing.T, s Storage, set *v1.StatefulSet) {
		released(set)
		set.Status.UserActions = append(set.Status.UserActions, v1.UserAction{Action: v1.EvaluateUserAction, User: "eve"})
		if err := updateStatusAs("ann", s, set); err != nil {
			t.Fatal(err)
		}
	}
}

func TestOtherWritesRecordNothing(t *testing.T) {
	restarted := settest.Valid()
	metav1.SetMetaDataAnnotation(&restarted.Spec.Template.ObjectMeta, identity.RestartedAtAnnotation, "before")
	old := metav1.Unix(1, 0)
	for sentence, do := range map[string]func(*testing.T, Storage, *v1.StatefulSet){
		"the creation of a set that was restarted elsewhere": func(*testing.T, Storage, *v1.StatefulSet) {},
		"a restart in a dry run": func(t *testing.T, s Storage, set *v1.StatefulSet) {
			set.Spec.Template.Annotations[identity.RestartedAtAnnotation] = "now"
			updateOf(t, s, set, metav1.DryRunAll)
		},
		"a restart while an earlier version is emulated": func(t *testing.T, s Storage, set *v1.StatefulSet) {
			s.Refuse(func(obj runtime.Object) field.ErrorList {
				if len(obj.(*v1.StatefulSet).Status.UserActions) == 0 {
					return nil
				}
				return field.ErrorList{field.Forbidden(field.NewPath("status", "userActions"), "version 0.0 does not have it")}
			})
			set.Spec.Template.Annotations[identity.RestartedAtAnnotation] = "now"
			updateOf(t, s, set)
		},
		"an annotation that releases nothing": func(t *testing.T, s Storage, set *v1.StatefulSet) {
			metav1.SetMetaDataAnnotation(&set.ObjectMeta, v1.EvaluateAnnotation, stoppedAt)
			updateOf(t, s, set)
		},
		"a manifest with a status": func(t *testing.T, s Storage, set *v1.StatefulSet) {
			set.Spec.MinReadySeconds = 9
			set.Status.UserActions = []v1.UserAction{{Action: v1.AbortUserAction, User: "eve", Time: old}}
			updateOf(t, s, set)
		},
	} {
		t.Run(sentence, func(t *testing.T) {
			s := newTestStorage(t)
			set := restarted.DeepCopy()
			set.Status.UserActions = []v1.UserAction{{Action: v1.AbortUserAction, User: "eve", Time: old}}
			do(t, s, create(t, s, set))
			if got := storedSet(t, s).Status.UserActions; len(got) > 0 {
				t.Errorf("the status has %+v, want nothing", got)
			}
		})
	}
}

func TestOnlyTheServerRecordsWhoDidIt(t *testing.T) {
	const refused = "status.userActions: Forbidden: only the server and the controller change this field; send it unchanged, or omit it"
	seen := earlier()
	seen[0].Revision = "web-b"
	forged := earlier()
	forged[0].User = "eve"
	for sentence, c := range map[string]struct {
		sender      string
		write, want []v1.UserAction
		err         string
	}{
		"the controller completes an entry":        {sender: user.APIServerUser, write: seen, want: seen},
		"a controller that does not know it keeps": {sender: user.APIServerUser, want: earlier()},
		"a client leaves it as it is":              {sender: "eve", write: earlier(), want: earlier()},
		"a client that does not know it keeps it":  {sender: "eve", want: earlier()},
		"a client may not name another user":       {sender: "eve", write: forged, want: earlier(), err: refused},
		"a client may not remove an entry":         {sender: "eve", write: []v1.UserAction{}, want: earlier(), err: refused},
		"a client may not add an entry": {
			sender: "eve", write: append(earlier(), v1.UserAction{Action: v1.AbortUserAction, User: "bob"}), want: earlier(), err: refused},
	} {
		t.Run(sentence, func(t *testing.T) {
			s := newTestStorage(t)
			set := midway(t, s)
			set.Status.UserActions = c.write
			err := updateStatusAs(c.sender, s, set)
			if (err == nil) != (c.err == "") || err != nil && !strings.Contains(err.Error(), c.err) {
				t.Errorf("got error %v, want %q", err, c.err)
			}
			if got := storedSet(t, s).Status.UserActions; !equality.Semantic.DeepEqual(got, c.want) {
				t.Errorf("the status has %+v, want %+v", got, c.want)
			}
		})
	}
}
