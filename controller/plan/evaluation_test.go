// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"fmt"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "statefulset.dev/api/apps/v1"
	"statefulset.dev/identity"
)

// A set that is set aside may be deleted, held, and have too many or too few pods. Nothing is done
// about any of that, and its status says how it stands.
func TestNothingIsDoneForASetThatIsSetAside(t *testing.T) {
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	for sentence, test := range map[string]struct {
		change func(*v1.StatefulSet)
		pods   int
		want   string
	}{
		"all pods are there": {
			func(*v1.StatefulSet) {}, 3, "3 of 3 Ready=False/EvaluationStopped Stalled=True/EvaluationStopped Reconciling=False/EvaluationStopped"},
		"pods are missing": {
			func(*v1.StatefulSet) {}, 1, "1 of 1 Ready=False/EvaluationStopped Stalled=True/EvaluationStopped Reconciling=False/EvaluationStopped"},
		"pods are not wanted": {func(s *v1.StatefulSet) { s.Spec.Replicas = new(int32(1)) }, 3,
			"3 of 3 Ready=False/EvaluationStopped Stalled=True/EvaluationStopped Reconciling=False/EvaluationStopped"},
		"the set is being deleted": {func(s *v1.StatefulSet) { s.DeletionTimestamp = &metav1.Time{Time: now} }, 3,
			"3 of 3 Ready=False/Deleting Stalled=False/NotStalled Reconciling=True/Deleting"},
		"the set is held": {func(s *v1.StatefulSet) { s.Annotations = map[string]string{v1.HoldAnnotation: ""} }, 3,
			"3 of 3 Ready=Unknown/Held Stalled=False/Held Reconciling=False/Held"},
		"its selector cannot be used": {func(s *v1.StatefulSet) {
			s.Spec.Selector.MatchExpressions = []metav1.LabelSelectorRequirement{{Key: "a", Operator: "no"}}
		}, 3,
			"0 of 0 Ready=False/EvaluationStopped Stalled=True/EvaluationStopped Reconciling=False/EvaluationStopped"},
	} {
		t.Run(sentence, func(t *testing.T) {
			labels := map[string]string{"app": "web"}
			set := &v1.StatefulSet{ObjectMeta: metav1.ObjectMeta{Name: "web", Namespace: "shop", UID: "uid", Generation: 4}}
			set.Spec.Replicas, set.Spec.Selector = new(int32(3)), &metav1.LabelSelector{MatchLabels: labels}
			set.Spec.Template.Labels = labels
			set.Spec.Identity = &v1.MemberIdentity{Transforms: []v1.Transform{{Path: "/metadata/annotations/a", Expression: "SET"}}}
			set.Status.CurrentRevision, set.Status.UpdateRevision = "web-1", "web-2"
			world := World{Set: set, Now: now}
			for ordinal := range test.pods {
				pod := identity.Pod(set, &set.Spec.Template, "web-1", ordinal)
				pod.Status.Phase, pod.Status.Conditions = corev1.PodRunning,
					[]corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}}
				world.Pods = append(world.Pods, pod)
			}
			test.change(set)
			of := identity.EvaluationOf(set)
			set.Status.Evaluation = &v1.StatefulSetEvaluation{Inputs: of.Inputs, Fields: of.Fields, Deaths: 2, StoppedAt: &metav1.Time{Time: now}}
			p := Compute(world)
			got := fmt.Sprintf("%d of %d", p.Status.ReadyReplicas, p.Status.Replicas)
			for _, kind := range []v1.StatefulSetConditionType{v1.StatefulSetReady, v1.StatefulSetStalled, v1.StatefulSetReconciling} {
				c := p.Status.Condition(kind)
				got += fmt.Sprintf(" %s=%s/%s", kind, c.Status, c.Reason)
			}
			if got != test.want || len(p.All()) > 0 {
				t.Errorf("got %s and actions %v, want %s and none", got, p.All(), test.want)
			}
			if p.Status.ObservedGeneration != 4 || p.Status.CurrentRevision != "web-1" || p.Status.UpdateRevision != "web-2" ||
				!p.Status.Evaluation.IsStopped() {
				t.Errorf("got status %+v, want generation 4, the revisions, and the mark as they were", p.Status)
			}
			if due := DelayedMembers(world, 10); len(due) > 0 {
				t.Errorf("got members %v that are said to be due, want none", due)
			}
		})
	}
}

func TestAStopNamesAFewFields(t *testing.T) {
	set := &v1.StatefulSet{ObjectMeta: metav1.ObjectMeta{Name: "web", Namespace: "shop"}}
	set.Status.Evaluation = &v1.StatefulSetEvaluation{
		Inputs: "abc", Fields: []string{"spec.a", "spec.b", "spec.c", "spec.d", "spec.e"}, Deaths: 2}
	const want = "no longer evaluates spec.a, spec.b, spec.c and 2 more (inputs abc)"
	if got := stoppedMessage(set); !strings.Contains(got, want) {
		t.Errorf("got %q, want it to say %q", got, want)
	}
}
