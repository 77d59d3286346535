// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package statefulset

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apiserver/pkg/authentication/user"
	apirequest "k8s.io/apiserver/pkg/endpoints/request"
	"k8s.io/apiserver/pkg/registry/rest"
	"k8s.io/utils/ptr"

	v1 "statefulset.dev/api/apps/v1"
	"statefulset.dev/identity"
	"statefulset.dev/registry/statefulset/settest"
)

func updateStatus(s Storage, set *v1.StatefulSet) error { return updateStatusAs("bob", s, set) }

func updateStatusAs(sender string, s Storage, set *v1.StatefulSet) error {
	ctx := apirequest.WithUser(s.requestFor("status"), &user.DefaultInfo{Name: sender})
	_, _, err := s.Status.Update(ctx, set.Name, rest.DefaultUpdatedObjectInfo(set),
		rest.ValidateAllObjectFunc, rest.ValidateAllObjectUpdateFunc, true, &metav1.UpdateOptions{})
	return err
}

func TestAWriteToStatusKeepsSpecAndGeneration(t *testing.T) {
	s := newTestStorage(t)
	set := create(t, s, settest.Valid())
	set.Spec.Replicas = ptr.To[int32](9)
	set.Status.ObservedGeneration = 1
	set.Status.Replicas, set.Status.ReadyReplicas = 3, 2

	if err := updateStatus(s, set); err != nil {
		t.Fatalf("updating the status: %v", err)
	}
	obj, err := s.Status.Get(s.requestFor("status"), set.Name, &metav1.GetOptions{})
	if err != nil {
		t.Fatalf("getting the status: %v", err)
	}
	got := obj.(*v1.StatefulSet)
	if *got.Spec.Replicas != 3 || got.Generation != 1 {
		t.Errorf("spec.replicas and generation: got %d and %d, want 3 and 1", *got.Spec.Replicas, got.Generation)
	}
	if got.Status.ReadyReplicas != 2 || got.Status.ObservedGeneration != 1 {
		t.Errorf("status: got %+v, want readyReplicas 2 and observedGeneration 1", got.Status)
	}
}

func TestAWriteToStatusCreatesNoSet(t *testing.T) {
	if err := updateStatus(newTestStorage(t), settest.Valid()); err == nil || !strings.Contains(err.Error(), "not found") {
		t.Errorf("updating the status of no set: got %v, want not found", err)
	}
}

func TestOnlyTheControllerChangesWhatARolloutRestsOn(t *testing.T) {
	rollout := func(ordinal int32) *v1.RolloutStatus {
		return &v1.RolloutStatus{Revision: "web-5d4f", Unblocking: &ordinal}
	}
	const refused = `StatefulSet.apps.statefulset.dev "web" is invalid: status.rollout: Forbidden: only statefulsets/rollout and the controller change this field; send it unchanged, or omit it`
	for sentence, test := range map[string]struct {
		sender string
		write  *v1.RolloutStatus
		want   *v1.RolloutStatus
		err    string
	}{
		"the controller changes it":               {sender: user.APIServerUser, write: rollout(1), want: rollout(1)},
		"the controller removes it":               {sender: user.APIServerUser},
		"a client leaves it as it is":             {sender: "bob", write: rollout(2), want: rollout(2)},
		"a client that does not know it keeps it": {sender: "bob", want: rollout(2)},
		"a client may not change it":              {sender: "bob", write: rollout(1), want: rollout(2), err: refused},
	} {
		t.Run(sentence, func(t *testing.T) {
			s := newTestStorage(t)
			set := create(t, s, settest.Valid())
			set.Status.Rollout = rollout(2)
			if err := updateStatusAs(user.APIServerUser, s, set); err != nil {
				t.Fatal(err)
			}
			stored, err := s.StatefulSet.Get(s.requestFor(""), set.Name, &metav1.GetOptions{})
			if err != nil {
				t.Fatal(err)
			}
			set = stored.(*v1.StatefulSet)
			set.Status.Rollout = test.write
			if err := updateStatusAs(test.sender, s, set); (err == nil) != (test.err == "") || err != nil && err.Error() != test.err {
				t.Errorf("writing %v: got error %v, want %q", test.write, err, test.err)
			}
			after, err := s.StatefulSet.Get(s.requestFor(""), set.Name, &metav1.GetOptions{})
			if err != nil {
				t.Fatal(err)
			}
			if got := after.(*v1.StatefulSet).Status.Rollout; !equality.Semantic.DeepEqual(got, test.want) {
				t.Errorf("status.rollout is %v, want %v", got, test.want)
			}
		})
	}
}

func TestStatusIsRefused(t *testing.T) {
	tests := map[string]struct {
		old, new v1.StatefulSetStatus
		want     string
	}{
		"when it counts fewer than no pods": {
			new: v1.StatefulSetStatus{Replicas: -1},
			want: "[status.replicas: Invalid value: -1: must be greater than or equal to 0" +
				", status.readyReplicas: Invalid value: 0: must not be greater than status.replicas, which is -1" +
				", status.currentReplicas: Invalid value: 0: must not be greater than status.replicas, which is -1" +
				", status.updatedReplicas: Invalid value: 0: must not be greater than status.replicas, which is -1]",
		},
		"when more pods are ready than exist": {
			new:  v1.StatefulSetStatus{Replicas: 1, ReadyReplicas: 2},
			want: "status.readyReplicas: Invalid value: 2: must not be greater than status.replicas, which is 1",
		},
		"when more pods are current than exist": {
			new:  v1.StatefulSetStatus{Replicas: 1, CurrentReplicas: 2},
			want: "status.currentReplicas: Invalid value: 2: must not be greater than status.replicas, which is 1",
		},
		"when more pods are updated than exist": {
			new:  v1.StatefulSetStatus{Replicas: 1, UpdatedReplicas: 2},
			want: "status.updatedReplicas: Invalid value: 2: must not be greater than status.replicas, which is 1",
		},
		"when more pods are available than ready": {
			new:  v1.StatefulSetStatus{Replicas: 2, ReadyReplicas: 1, AvailableReplicas: 2},
			want: "status.availableReplicas: Invalid value: 2: must not be greater than status.readyReplicas, which is 1",
		},
		"when it has seen a generation before the first": {
			new:  v1.StatefulSetStatus{ObservedGeneration: -1},
			want: "status.observedGeneration: Invalid value: -1: must be greater than or equal to 0",
		},
		"when it forgets collisions": {
			old:  v1.StatefulSetStatus{CollisionCount: ptr.To[int32](2)},
			new:  v1.StatefulSetStatus{CollisionCount: ptr.To[int32](1)},
			want: "status.collisionCount: Invalid value: 1: must not be less than before (2)",
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			old, set := settest.Valid(), settest.Valid()
			old.Status, set.Status = test.old, test.new
			if got := fmt.Sprint(ValidateStatusUpdate(set, old).ToAggregate()); got != test.want {
				t.Errorf("got %s, want %s", got, test.want)
			}
		})
	}
}

func TestOnlyTheControllerChangesWhatIsToldOfTemplatesOfObjects(t *testing.T) {
	const refused = `StatefulSet.apps.statefulset.dev "web" is invalid: status.objectTemplates: Forbidden: only the controller changes this field; send it unchanged, or omit it`
	for sentence, test := range map[string]struct {
		sender string
		change func(*v1.StatefulSetStatus)
		want   string // the names of the removed templates
		err    string
	}{
		"the controller removes it": {
			sender: user.APIServerUser, change: func(s *v1.StatefulSetStatus) { s.ObjectTemplates = nil }},
		"a client leaves it as it is": {sender: "bob", change: func(s *v1.StatefulSetStatus) { s.ReadyReplicas = 0 }, want: "conf"},
		"a client that does not know it keeps it": {
			sender: "bob", change: func(s *v1.StatefulSetStatus) { s.ObjectTemplates = nil }, want: "conf"},
		"a client may not change it": {
			sender: "bob", change: func(s *v1.StatefulSetStatus) { s.ObjectTemplates[0].Name = "other" }, want: "conf", err: refused},
		"a client may not add one": {sender: "bob", change: func(s *v1.StatefulSetStatus) {
			s.ObjectTemplates = append(s.ObjectTemplates, v1.ObjectTemplateStatus{Name: "kept", RemovedAt: s.ObjectTemplates[0].RemovedAt})
		}, want: "conf", err: refused},
		"a client may not have dates count that were there before": {sender: "bob", change: func(s *v1.StatefulSetStatus) {
			s.ObjectTemplates = append(s.ObjectTemplates, v1.ObjectTemplateStatus{Name: "kept", Kind: "ConfigMap", ObjectName: "$(IDENTITY)-kept"})
		}, want: "conf", err: refused},
	} {
		t.Run(sentence, func(t *testing.T) {
			s := newTestStorage(t)
			set := create(t, s, settest.Changed(withTemplates(givingAway("conf", 20))))
			set.Spec.ObjectTemplates = nil
			if _, _, err := s.StatefulSet.Update(s.requestFor(""), set.Name, rest.DefaultUpdatedObjectInfo(set), rest.ValidateAllObjectFunc,
				rest.ValidateAllObjectUpdateFunc, false, &metav1.UpdateOptions{}); err != nil {
				t.Fatalf("removing the template: %v", err)
			}
			set = storedSet(t, s)
			test.change(&set.Status)
			if err := updateStatusAs(test.sender, s, set); (err == nil) != (test.err == "") || err != nil && err.Error() != test.err {
				t.Errorf("got error %v, want %q", err, test.err)
			}
			var got []string
			for _, removed := range identity.RemovedTemplates(&storedSet(t, s).Status) {
				got = append(got, removed.Name)
			}
			if strings.Join(got, ",") != test.want {
				t.Errorf("the removed templates are %q, want %q", got, test.want)
			}
		})
	}
}

func TestOnlyTheControllerChangesTheMarkOfAnEvaluation(t *testing.T) {
	const refused = `StatefulSet.apps.statefulset.dev "web" is invalid: status.evaluation: Forbidden: only the controller changes this field; send it unchanged, or omit it; to release a set: kubectl sts evaluate`
	mark := v1.StatefulSetEvaluation{Inputs: "abc", Deaths: 2, StoppedAt: new(metav1.NewTime(time.Unix(1000, 0)))}
	for sentence, test := range map[string]struct {
		sender    string
		change    func(*v1.StatefulSetStatus)
		want, err string
	}{
		"the controller removes it":               {sender: user.APIServerUser, change: func(s *v1.StatefulSetStatus) { s.Evaluation = nil }},
		"a client leaves it as it is":             {sender: "bob", change: func(s *v1.StatefulSetStatus) { s.ReadyReplicas = 0 }, want: "abc"},
		"a client that does not know it keeps it": {sender: "bob", change: func(s *v1.StatefulSetStatus) { s.Evaluation = nil }, want: "abc"},
		"a client must not release the set": {
			sender: "bob", change: func(s *v1.StatefulSetStatus) { s.Evaluation.StoppedAt = nil }, want: "abc", err: refused},
		"a client must not change the inputs": {
			sender: "bob", change: func(s *v1.StatefulSetStatus) { s.Evaluation.Inputs = "other" }, want: "abc", err: refused},
	} {
		t.Run(sentence, func(t *testing.T) {
			s := newTestStorage(t)
			created := settest.Valid()
			created.Status.Evaluation = mark.DeepCopy()
			set := create(t, s, created)
			if set.Status.Evaluation != nil {
				t.Fatalf("a set is created with the mark %+v, want none", set.Status.Evaluation)
			}
			set.Status.Evaluation = mark.DeepCopy()
			if err := updateStatusAs(user.APIServerUser, s, set); err != nil {
				t.Fatalf("writing the mark: %v", err)
			}
			set = storedSet(t, s)
			test.change(&set.Status)
			if err := updateStatusAs(test.sender, s, set); (err == nil) != (test.err == "") || err != nil && err.Error() != test.err {
				t.Errorf("got error %v, want %q", err, test.err)
			}
			got := ""
			if mark := storedSet(t, s).Status.Evaluation; mark != nil {
				got = mark.Inputs
			}
			if got != test.want {
				t.Errorf("the stored mark has the inputs %q, want %q", got, test.want)
			}
		})
	}
}
