// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	quantity "k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/intstr"
	clienttesting "k8s.io/client-go/testing"
	"k8s.io/client-go/tools/cache"

	v1 "statefulset.dev/api/apps/v1"
	setsfake "statefulset.dev/client/clientset/versioned/fake"
)

func TestMilestonesAreTold(t *testing.T) {
	reached := []v1.OrdinalRange{{First: 2}}
	at := func(step int32) *v1.RolloutStatus {
		return &v1.RolloutStatus{Revision: "web-b", Step: step, Released: reached}
	}
	data := func(upToDate, growing, infeasible int32) []v1.VolumeClaimStatus {
		return []v1.VolumeClaimStatus{{Name: "data", Claims: 3, UpToDate: upToDate, Growing: growing, Infeasible: infeasible}}
	}
	stalled := []v1.StatefulSetCondition{
		{Type: v1.StatefulSetStalled, Status: corev1.ConditionTrue, Reason: v1.ReasonClaimGrowthRefused, Message: "claim data-web-2 cannot"}}
	requested := func(observed bool) (actions []v1.UserAction) {
		for _, a := range []v1.UserAction{
			{Action: v1.AbortUserAction, Revision: "web-b"}, {Action: v1.EvaluateUserAction},
			{Action: v1.PromoteUserAction, Step: 1, Revision: "web-b"},
			{Action: v1.ReplaceLostUserAction, LostNode: "n1", Ordinals: []v1.OrdinalRange{{First: 1}}}, {Action: v1.RestartUserAction},
		} {
			a.User, a.Time, a.Observed = "ann", metav1.Unix(1, 0), observed
			actions = append(actions, a)
		}
		return actions
	}
	for sentence, test := range map[string]struct {
		before, after v1.StatefulSetStatus
		want          []string
	}{
		"nothing of a set that is as it was": {},
		"nothing of an update that begins":   {after: v1.StatefulSetStatus{Rollout: at(1)}},
		"nothing in the middle of a step":    {before: v1.StatefulSetStatus{Rollout: at(1)}, after: v1.StatefulSetStatus{Rollout: at(1)}},
		"a step that is done": {
			before: v1.StatefulSetStatus{Rollout: at(1)}, after: v1.StatefulSetStatus{Rollout: at(2), UpdatedReplicas: 1, Replicas: 3},
			want: []string{"Normal RolloutStepDone Step 1/2 is done: 1 of 3 at web-b"}},
		"the last step": {
			before: v1.StatefulSetStatus{Rollout: at(2)}, after: v1.StatefulSetStatus{Rollout: at(3), UpdatedReplicas: 2, Replicas: 3},
			want: []string{"Normal RolloutStepDone Step 2/2 is done: 2 of 3 at web-b"}},
		"no step of another update": {
			before: v1.StatefulSetStatus{Rollout: &v1.RolloutStatus{Revision: "web-a", Step: 1}}, after: v1.StatefulSetStatus{Rollout: at(2)}},
		"no step that was passed over": {before: v1.StatefulSetStatus{Rollout: &v1.RolloutStatus{Revision: "web-b", Step: 2, PromotedAll: true}},
			after: v1.StatefulSetStatus{Rollout: &v1.RolloutStatus{Revision: "web-b", Step: 3, PromotedAll: true}}},
		"the end of a rollback": {
			before: v1.StatefulSetStatus{Rollout: &v1.RolloutStatus{Revision: "web-b", Step: 1, Rollback: true, Released: reached}},
			after:  v1.StatefulSetStatus{Rollout: &v1.RolloutStatus{Revision: "web-b", Step: 1, Rollback: true}},
			want:   []string{"Normal RolloutRolledBack The update to web-b was rolled back: no member runs it any more"}},
		"nothing in the middle of a rollback": {before: v1.StatefulSetStatus{Rollout: at(1)},
			after: v1.StatefulSetStatus{Rollout: &v1.RolloutStatus{Revision: "web-b", Step: 1, Aborted: true, Released: reached}}},
		"no rollback of what has nothing to go back to": {before: v1.StatefulSetStatus{Rollout: at(1)},
			after: v1.StatefulSetStatus{Rollout: &v1.RolloutStatus{Revision: "web-b", Step: 1, Aborted: true, Superseded: reached}}},
		"claims that have grown": {
			before: v1.StatefulSetStatus{VolumeClaims: data(2, 1, 0)}, after: v1.StatefulSetStatus{VolumeClaims: data(3, 0, 0)},
			want: []string{"Normal ClaimGrown 3 of 3 claims match template data"}},
		"no claims of which others have yet to grow": {
			before: v1.StatefulSetStatus{VolumeClaims: data(1, 1, 0)}, after: v1.StatefulSetStatus{VolumeClaims: data(2, 0, 0)}},
		"no claims that do not have to grow any more": {before: v1.StatefulSetStatus{VolumeClaims: data(2, 1, 1), ObservedGeneration: 1},
			after: v1.StatefulSetStatus{VolumeClaims: data(3, 0, 0), ObservedGeneration: 2}},
		"claims that were refused": {
			before: v1.StatefulSetStatus{VolumeClaims: data(2, 1, 0)}, after: v1.StatefulSetStatus{VolumeClaims: data(2, 1, 1), Conditions: stalled},
			want: []string{"Warning ClaimGrowthRefused claim data-web-2 cannot"}},
		"claims that were refused while something else stalls the set": {
			before: v1.StatefulSetStatus{VolumeClaims: data(2, 1, 0)}, after: v1.StatefulSetStatus{VolumeClaims: data(2, 1, 1)},
			want: []string{"Warning ClaimGrowthRefused 1 of 3 claims cannot be changed to match template data"}},
		"what users requested, once it is seen": {
			before: v1.StatefulSetStatus{UserActions: requested(false)}, after: v1.StatefulSetStatus{UserActions: requested(true)},
			want: []string{
				"Normal RolloutAborted ann aborted the update to web-b at 1970-01-01T00:00:01Z",
				"Normal RolloutPromoted ann promoted step 1 of the update to web-b at 1970-01-01T00:00:01Z",
				"Normal LostNodeReported ann reported node n1 as lost and requested the replacement of web-1 at 1970-01-01T00:00:01Z",
				"Normal RolloutRestarted ann restarted the set (generation 0) at 1970-01-01T00:00:01Z",
			}},
		"nothing of requests that were seen before": {
			before: v1.StatefulSetStatus{UserActions: requested(true)}, after: v1.StatefulSetStatus{UserActions: requested(true)}},
		"no claims that were refused before": {before: v1.StatefulSetStatus{VolumeClaims: data(1, 2, 1)},
			after: v1.StatefulSetStatus{VolumeClaims: data(1, 2, 2), Conditions: stalled}},
	} {
		t.Run(sentence, func(t *testing.T) {
			set := newSet("web", "data")
			set.Spec.VolumeClaimUpdate = &v1.StatefulSetVolumeClaimUpdate{Policy: v1.InPlaceVolumeClaimUpdatePolicyType}
			step := v1.RolloutStep{Updated: intstr.FromInt32(1)}
			set.Spec.UpdateStrategy.RollingUpdate = &v1.RollingUpdateStatefulSetStrategy{Steps: []v1.RolloutStep{step, step}}
			set.Status = test.before
			var got []string
			for _, e := range statusEvents(set, &test.after) {
				got = append(got, e.eventType+" "+e.reason+" "+e.message())
			}
			if !slices.Equal(got, test.want) {
				t.Errorf("got events %q, want %q", got, test.want)
			}
			if events := statusEvents(&v1.StatefulSet{Status: test.after}, &test.after); len(events) > 0 {
				t.Errorf("got events %v again, want them told once", events)
			}
		})
	}
}

// TestAMilestoneIsToldOnceItsStatusIsWritten syncs a set whose claim has grown three times: the
// first write of the status is refused.
func TestAMilestoneIsToldOnceItsStatusIsWritten(t *testing.T) {
	set := newSet("web", "data")
	set.Spec.VolumeClaimUpdate = &v1.StatefulSetVolumeClaimUpdate{Policy: v1.InPlaceVolumeClaimUpdatePolicyType}
	size := corev1.ResourceList{corev1.ResourceStorage: quantity.MustParse("2Gi")}
	set.Spec.Replicas = new(int32(1))
	set.Spec.VolumeClaimTemplates[0].Spec.Resources.Requests = size
	set.Status = v1.StatefulSetStatus{ObservedGeneration: 1, VolumeClaims: []v1.VolumeClaimStatus{{Name: "data", Claims: 1, Growing: 1}}}
	claim := &corev1.PersistentVolumeClaim{
		ObjectMeta: metav1.ObjectMeta{Name: "data-web-0", Namespace: "shop", Labels: map[string]string{"app": "web"}}}
	claim.Spec.Resources.Requests = size
	claim.Status = corev1.PersistentVolumeClaimStatus{Phase: corev1.ClaimBound, Capacity: size}
	term, host := newTestTerm(t, set, claim)
	ended := recording(t, term, host)
	conflicts := 1
	term.config.Sets.(*setsfake.Clientset).PrependReactor("update", "statefulsets", func(clienttesting.Action) (bool, runtime.Object, error) {
		conflicts--
		return conflicts >= 0, nil, apierrors.NewConflict(schema.GroupResource{Resource: "statefulsets"}, "web", nil)
	})
	for range 3 {
		term.states.getOrCreate(cache.MetaObjectToName(set)).ownWrites = ownWrites{} // the caches do not run
		if _, err := term.sync(t.Context(), nil, cache.MetaObjectToName(set)); err != nil && !isStaleRead(err) {
			t.Fatalf("syncing: %v", err)
		}
		stored, err := term.config.Sets.AppsV1().StatefulSets("shop").Get(t.Context(), "web", metav1.GetOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if err := term.view[setsResource].Update(stored); err != nil {
			t.Fatal(err)
		}
	}
	told := 0
	for _, e := range ended() {
		if e.Reason == v1.ReasonClaimGrown {
			told += max(int(e.Count), 1)
		}
	}
	if told != 1 || conflicts >= 0 {
		t.Errorf("the growth is told %d times after a conflict (%d are left), want once", told, conflicts+1)
	}
}
