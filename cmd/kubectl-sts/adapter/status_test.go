// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package adapter

import (
	"testing"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/kubectl/pkg/polymorphichelpers"

	v1 "statefulset.dev/api/apps/v1"
)

func TestRolloutStatus(t *testing.T) {
	steps := &v1.RollingUpdateStatefulSetStrategy{Steps: []v1.RolloutStep{{}}}
	// of is a set of three ready members, of which one is at the update revision unless the update is complete.
	of := func(block *v1.RollingUpdateStatefulSetStrategy, rollout *v1.RolloutStatus, reason, message string) *v1.StatefulSet {
		set := newSet()
		set.Generation, set.Spec.Replicas = 2, new(int32(3))
		set.Spec.UpdateStrategy = v1.StatefulSetUpdateStrategy{Type: v1.RollingUpdateStatefulSetStrategyType, RollingUpdate: block}
		set.Status = v1.StatefulSetStatus{
			ObservedGeneration: 2, Replicas: 3, ReadyReplicas: 3, UpdatedReplicas: 1, CurrentReplicas: 2, CurrentRevision: "db-1",
			UpdateRevision: "db-2", Rollout: rollout,
			Conditions: []v1.StatefulSetCondition{{Type: v1.StatefulSetReady, Status: "False", Reason: reason, Message: message}},
		}
		return set
	}
	changed := func(set *v1.StatefulSet, change func(*v1.StatefulSet)) *v1.StatefulSet {
		change(set)
		return set
	}
	complete := func(set *v1.StatefulSet) {
		set.Status.CurrentRevision, set.Status.CurrentReplicas, set.Status.UpdatedReplicas = "db-2", 3, 3
	}
	const (
		underWay = "waiting for statefulset rolling update to complete 1 pods at revision db-2...\n"
		atTheEnd = "statefulset rolling update complete 3 pods at revision db-2...\n"
	)
	for sentence, c := range map[string]struct {
		set     *v1.StatefulSet
		want    string
		done    bool
		wantErr string
	}{
		"a set as apps/v1 has it is told of in kubectl's words": {set: of(nil, nil, "Updating", "x"), want: underWay},
		"a step that bakes": {
			set:  of(steps, &v1.RolloutStatus{Step: 1}, v1.ReasonBaking, "step 1/1: 1 of 3 at db-2, baking until T"),
			want: "step 1/1: 1 of 3 at db-2, baking until T\n"},
		"an update that is paused is waited for": {
			set:  of(&v1.RollingUpdateStatefulSetStrategy{Paused: new(true)}, &v1.RolloutStatus{}, v1.ReasonPaused, "paused: 1 of 3"),
			want: "paused: 1 of 3\n"},
		"an update that failed ends the waiting": {
			set: of(steps, &v1.RolloutStatus{Step: 1}, v1.ReasonRolloutFailed, "db-2 is not available"), done: true,
			wantErr: "db-2 is not available"},
		"an update that goes back is waited for": {
			set:  of(steps, &v1.RolloutStatus{Rollback: true}, v1.ReasonRollingBack, "is being rolled back: it has failed"),
			want: "is being rolled back: it has failed\n"},
		"an update that was taken back ends the waiting, with steps and without": {
			set: of(nil, &v1.RolloutStatus{Aborted: true}, v1.ReasonRolledBack, "a user has aborted it"), done: true,
			wantErr: "a user has aborted it"},
		"the status of the template before does not count": {
			set:  changed(of(steps, &v1.RolloutStatus{Step: 1}, v1.ReasonRolledBack, "x"), func(set *v1.StatefulSet) { set.Generation = 3 }),
			want: "Waiting for statefulset spec update to be observed...\n"},
		"steps that are all done": {
			set: changed(of(steps, &v1.RolloutStatus{}, "MembersAvailable", "x"), complete), want: atTheEnd, done: true},
		"an update under way of a set with but fields of ours": {
			set: of(&v1.RollingUpdateStatefulSetStrategy{ReplaceUnreadyAfterSeconds: new(int32(5))}, nil, "Updating", "x"), want: underWay},
	} {
		t.Run(sentence, func(t *testing.T) {
			content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(c.set)
			if err != nil {
				t.Fatal(err)
			}
			viewer, err := polymorphichelpers.StatusViewerFn(&meta.RESTMapping{GroupVersionKind: v1.GroupVersionKind()})
			if err != nil {
				t.Fatal(err)
			}
			object := &unstructured.Unstructured{Object: content}
			got, done, err := viewer.Status(object, 0)
			if got != c.want || done != c.done || (err == nil) != (c.wantErr == "") || err != nil && err.Error() != c.wantErr {
				t.Errorf("got %q, at its end %v and error %v, want %q, %v and %q", got, done, err, c.want, c.done, c.wantErr)
			}
			if again, _, _ := viewer.Status(object, 0); isOnItsWay(c.set) && again != "" {
				t.Errorf("the second time got %q, want nothing, as it was told", again)
			}
		})
	}
}

func TestOfOtherKindsKubectlTellsTheStatus(t *testing.T) {
	other := v1.SchemeGroupVersion.WithKind("Other")
	if viewer, err := polymorphichelpers.StatusViewerFn(&meta.RESTMapping{GroupVersionKind: other}); err == nil {
		t.Errorf("%s has the status viewer %T, want kubectl's error", other, viewer)
	}
}
