// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"fmt"
	"slices"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"

	v1 "statefulset.dev/api/apps/v1"
)

func TestASetThatIsSetAsideSaysWhatToDo(t *testing.T) {
	set := markedBy("old", 0, time.Second)
	pod := newPod(set, 0)
	m := newMarkingTerm(t, set, pod)
	m.ended = errTrialEnded
	if _, err := m.look(t); err != nil {
		t.Fatal(err)
	}
	const want = "the controller no longer evaluates spec.identity.transforms (inputs %s): 2 of its processes ended while doing so; " +
		"pods, claims and objects stay unchanged; change these fields, or retry the evaluation: kubectl sts evaluate web -n shop"
	message := fmt.Sprintf(want, set.Status.Evaluation.Inputs)
	for kind, status := range map[v1.StatefulSetConditionType]corev1.ConditionStatus{v1.StatefulSetReady: corev1.ConditionFalse,
		v1.StatefulSetStalled: corev1.ConditionTrue, v1.StatefulSetReconciling: corev1.ConditionFalse,
		v1.StatefulSetProgressing: corev1.ConditionFalse} {
		if got := conditionOf(m.set, kind); got.Status != status || got.Reason != v1.ReasonEvaluationStopped || got.Message != message {
			t.Errorf("got %s=%s, reason %s: %s; want %s, reason %s: %s", kind, got.Status, got.Reason, got.Message, status,
				v1.ReasonEvaluationStopped, message)
		}
	}
	if m.set.Status.Replicas != 1 || m.set.Status.ReadyReplicas != 1 || m.set.Status.ObservedGeneration != 1 {
		t.Errorf("got status %+v, want one pod, which is ready, and generation 1", m.set.Status)
	}
	if writes := writesTo(m.host); len(writes) > 0 {
		t.Errorf("got writes %v to the host, want none", writes)
	}
	if err := m.view[podsResource].Delete(pod); err != nil {
		t.Fatal(err)
	}
	if happened, err := m.look(t); err != nil || m.set.Status.Replicas != 0 || !slices.Equal(happened, []string{"stopped after 2"}) {
		t.Errorf("after its pod was deleted: got %q, error %v and %d pods, want a status that counts none", happened, err, m.set.Status.Replicas)
	}
}

func TestASetThatIsSetAsideIsReleased(t *testing.T) {
	annotate := func(value string) func(*v1.StatefulSet) {
		return func(set *v1.StatefulSet) { set.Annotations = map[string]string{v1.EvaluateAnnotation: value} }
	}
	created := []string{"create web-0", "create web-1", "create web-2"}
	for sentence, test := range map[string]struct {
		change func(*v1.StatefulSet)
		want   []string
	}{
		"by another value": {func(s *v1.StatefulSet) { s.Spec.Identity.Values["ZONE"] = "b"; s.Generation++ },
			slices.Concat([]string{"mark of test after 0"}, created, []string{"no mark"})},
		"by the removal of the expressions": {func(s *v1.StatefulSet) { s.Spec.Identity = nil; s.Generation++ }, append(created, "no mark")},
		"by a person": {
			annotate("2026-01-02T11:00:00Z"), slices.Concat([]string{"trial", "mark of test after 2", "completed"}, created, []string{"no mark"})},
		"not by the release of an earlier stop": {annotate("2026-01-02T10:00:00Z"), nil},
		"not by a scale": {
			func(s *v1.StatefulSet) { s.Spec.Replicas = new(int32(5)); s.Generation++ }, []string{"stopped after 2"}},
		"not by another image": {
			func(s *v1.StatefulSet) { s.Spec.Template.Spec.Containers[0].Image = "b"; s.Generation++ }, []string{"stopped after 2"}},
	} {
		t.Run(sentence, func(t *testing.T) {
			m := newMarkingTerm(t, setAsideSet())
			if _, err := m.look(t); err != nil {
				t.Fatal(err)
			}
			m.change(t, test.change)
			if happened, err := m.look(t); err != nil || !slices.Equal(ordered(happened), ordered(test.want)) {
				t.Errorf("got %q and error %v, want %q", happened, err, test.want)
			}
		})
	}
}

func TestAStopIsLaterThanTheOneBeforeInTheSameSecond(t *testing.T) {
	set := setAsideSet()
	set.Status.Evaluation.StoppedAt.Time = noonOfMarks
	set.Annotations = map[string]string{v1.EvaluateAnnotation: set.Status.Evaluation.Release()}
	m := newMarkingTerm(t, set)
	m.ended = errTrialEnded
	if _, err := m.look(t); err != nil {
		t.Fatal(err)
	}
	if got, want := m.set.Status.Evaluation.Release(), "2026-01-02T12:00:01Z"; got != want {
		t.Errorf("got a stop at %s, want %s", got, want)
	}
}

func TestAReleasedSetThatEndsAnotherProcessIsSetAsideAtOnce(t *testing.T) {
	set := setAsideSet()
	set.Annotations = map[string]string{v1.EvaluateAnnotation: "2026-01-02T11:00:00Z"}
	m := newMarkingTerm(t, set)
	m.ended = errTrialEnded
	happened, err := m.look(t)
	if err != nil || !slices.Equal(happened, []string{"trial", "stopped after 3"}) {
		t.Fatalf("got %q and error %v, want a trial, and that it is stopped after 3", happened, err)
	}
	if happened, err := m.look(t); err != nil || len(happened) > 0 {
		t.Errorf("with the annotation of the earlier stop: got %q and error %v, want nothing", happened, err)
	}
}
