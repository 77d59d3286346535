// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/record"
	clocktesting "k8s.io/utils/clock/testing"

	v1 "statefulset.dev/api/apps/v1"
	setsfake "statefulset.dev/client/clientset/versioned/fake"
	"statefulset.dev/identity"
)

// evaluatingSet is a set with an expression.
func evaluatingSet() *v1.StatefulSet {
	set := newSet("web")
	set.Spec.PodManagementPolicy = v1.ParallelPodManagement
	set.Spec.Identity = &v1.MemberIdentity{Values: map[string]string{"ZONE": "a"},
		Transforms: []v1.Transform{{Path: "/metadata/annotations/zone", Expression: `ZONE + string(ORDINAL)`}}}
	return set
}

// newMark is a mark by a holder, for the present inputs of the set.
func newMark(set *v1.StatefulSet, holder string, deaths int32, age time.Duration) *v1.StatefulSetEvaluation {
	of := identity.EvaluationOf(set)
	return &v1.StatefulSetEvaluation{Generation: set.Generation, Inputs: of.Inputs, Fields: of.Fields, Deaths: deaths, Holder: holder,
		StartedAt: new(metav1.NewTime(noonOfMarks.Add(-age)))}
}

var noonOfMarks = time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC)

// markedBy is a set with a mark.
func markedBy(holder string, deaths int32, age time.Duration) *v1.StatefulSet {
	set := evaluatingSet()
	set.Status.Evaluation = newMark(set, holder, deaths, age)
	return set
}

// setAsideSet is one whose evaluation was stopped an hour ago.
func setAsideSet() *v1.StatefulSet {
	set := evaluatingSet()
	set.Status.ObservedGeneration = set.Generation
	set.Status.Evaluation = newMark(set, "", 2, time.Hour)
	set.Status.Evaluation.StoppedAt = new(metav1.NewTime(noonOfMarks.Add(-time.Hour)))
	return set
}

// markingTerm is a term in which what happens is written down, in order: marks as they are stored, and
// writes to the host.
type markingTerm struct {
	*term

	host *fake.Clientset
	set  *v1.StatefulSet
	mu   sync.Mutex
	log  []string
	// ended is what trials say.
	ended error
}

func newMarkingTerm(t *testing.T, set *v1.StatefulSet, objects ...metav1.Object) *markingTerm {
	t.Helper()
	term, host := newTestTerm(t, set, objects...)
	term.config.Clock, term.recorder = clocktesting.NewFakeClock(noonOfMarks), record.NewFakeRecorder(100)
	m := &markingTerm{term: term, host: host, set: set}
	term.config.Trial = func(_ context.Context, request []byte) error {
		m.log = append(m.log, "trial")
		if !strings.Contains(string(request), `"members":[0,1,2]`) {
			t.Errorf("got the request %s, want one for the members 0 to 2", request)
		}
		return m.ended
	}
	sets := term.config.Sets.(*setsfake.Clientset)
	sets.PrependReactor("update", "statefulsets", func(action clienttesting.Action) (bool, runtime.Object, error) {
		written := action.(clienttesting.UpdateAction).GetObject().(*v1.StatefulSet)
		m.log = append(m.log, markWord(written))
		return false, nil, nil
	})
	shown := map[string]resource{"pods": podsResource, "controllerrevisions": revisionsResource}
	host.PrependReactor("create", "*", func(action clienttesting.Action) (bool, runtime.Object, error) {
		if kind, is := shown[action.GetResource().Resource]; is {
			m.mu.Lock()
			defer m.mu.Unlock()
			if kind == podsResource {
				m.log = append(m.log, "create "+nameOf(action))
			}
			if err := m.view.put(kind, action.(clienttesting.CreateAction).GetObject()); err != nil {
				t.Error(err)
			}
		}
		return false, nil, nil
	})
	return m
}

// markWord is the state of the evaluation that a status has.
func markWord(set *v1.StatefulSet) string {
	switch mark := set.Status.Evaluation; {
	case mark == nil:
		return "no mark"
	case mark.IsStopped():
		return fmt.Sprintf("stopped after %d", mark.Deaths)
	case mark.IsCompleted():
		return "completed"
	default:
		return fmt.Sprintf("mark of %s after %d", mark.Holder, mark.Deaths)
	}
}

// look syncs the set as the store has it, and returns what happened.
func (m *markingTerm) look(t *testing.T) (happened []string, err error) {
	t.Helper()
	m.log = nil
	key := cache.MetaObjectToName(m.set)
	m.states.getOrCreate(key).ownWrites = ownWrites{} // the caches do not run
	_, err = m.sync(t.Context(), nil, key)
	m.set = m.stored(t)
	holding(t, m.term, m.set)
	return m.log, err
}

func (m *markingTerm) stored(t *testing.T) *v1.StatefulSet {
	t.Helper()
	set, err := m.config.Sets.AppsV1().StatefulSets(m.set.Namespace).Get(t.Context(), m.set.Name, metav1.GetOptions{})
	if err != nil {
		t.Fatalf("getting the set: %v", err)
	}
	return set
}

// write changes the stored set, as a user does.
func (m *markingTerm) change(t *testing.T, change func(*v1.StatefulSet)) {
	t.Helper()
	set := m.stored(t)
	change(set)
	if err := m.config.Sets.(*setsfake.Clientset).Tracker().Update(v1.SchemeGroupVersion.WithResource("statefulsets"), set,
		set.Namespace); err != nil {
		t.Fatalf("changing the set: %v", err)
	}
	m.set = set
	holding(t, m.term, set)
}

func TestAMarkIsWrittenBeforeTheFirstEvaluation(t *testing.T) {
	created := []string{"create web-0", "create web-1", "create web-2"}
	for sentence, test := range map[string]struct {
		set  func() *v1.StatefulSet
		want []string
	}{
		"a new set is marked, and the next status has no mark": {
			evaluatingSet, slices.Concat([]string{"mark of test after 0"}, created, []string{"no mark"})},
		"a set without expressions is not marked": {
			func() *v1.StatefulSet { s := evaluatingSet(); s.Spec.Identity.Transforms = nil; return s }, append(created, "no mark")},
		"a set without identity is not marked": {newParallelSet, append(created, "no mark")},
		"a set that was observed is not marked": {func() *v1.StatefulSet { s := evaluatingSet(); s.Status.ObservedGeneration = 1; return s },
			append(created, "no mark")},
		"a set that was observed on hold is marked": {func() *v1.StatefulSet {
			s := evaluatingSet()
			s.Status.ObservedGeneration = 1
			s.Status.Conditions = []v1.StatefulSetCondition{{Type: v1.StatefulSetReady, Status: corev1.ConditionUnknown, Reason: v1.ReasonHeld}}
			return s
		}, slices.Concat([]string{"mark of test after 0"}, created, []string{"no mark"})},
		"the mark of this process is not written again": {
			func() *v1.StatefulSet { s := evaluatingSet(); s.Status.Evaluation = newMark(s, "test", 0, 0); return s },
			append(created, "no mark")},
		"the set of a process that ended just now is tried, and is not suspected any more before the host is written to": {
			func() *v1.StatefulSet { return markedBy("old", 0, time.Second) },
			slices.Concat([]string{"trial", "completed"}, created, []string{"no mark"})},
		"the set of a process that ended a while ago is marked again after its trial": {
			func() *v1.StatefulSet { return markedBy("old", 0, deathInterval) },
			slices.Concat([]string{"trial", "mark of test after 1", "completed"}, created, []string{"no mark"})},
		"a death that follows soon after another is not counted": {
			func() *v1.StatefulSet { return markedBy("old", 2, time.Second) },
			slices.Concat([]string{"trial", "completed"}, created, []string{"no mark"})},
		"a set that ends process after process is set aside, whatever its trial says": {
			func() *v1.StatefulSet { return markedBy("old", 2, deathInterval) }, []string{"trial", "stopped after 3"}},
		"a set whose evaluation has completed is not evaluated again": {
			func() *v1.StatefulSet { return markedBy("", 0, time.Minute) }, append(created, "no mark")},
		"the mark of other inputs does not count": {func() *v1.StatefulSet {
			s := evaluatingSet()
			s.Status.Evaluation = newMark(s, "old", 2, time.Minute)
			s.Spec.Identity.Values["ZONE"] = "b"
			return s
		}, slices.Concat([]string{"mark of test after 0"}, created, []string{"no mark"})},
		"an old mark, as of a restored store, does not count": {func() *v1.StatefulSet { return markedBy("old", 2, markLifetime) },
			slices.Concat([]string{"trial", "mark of test after 0", "completed"}, created, []string{"no mark"})},
		"a set that is set aside is left alone": {setAsideSet, []string{"stopped after 2"}},
		"a set that is being deleted is not marked": {func() *v1.StatefulSet {
			s := evaluatingSet()
			s.DeletionTimestamp, s.Finalizers = new(metav1.NewTime(noonOfMarks)), []string{"orphan"}
			return s
		}, []string{"no mark"}},
	} {
		t.Run(sentence, func(t *testing.T) {
			m := newMarkingTerm(t, test.set())
			happened, err := m.look(t)
			if err != nil || !slices.Equal(ordered(happened), ordered(test.want)) {
				t.Errorf("got %q and error %v, want %q", happened, err, test.want)
			}
			if again, err := m.look(t); err != nil || slices.ContainsFunc(again, func(s string) bool { return strings.HasPrefix(s, "mark") }) {
				t.Errorf("the next sync: got %q and error %v, want no mark", again, err)
			}
		})
	}
}

// ordered is what happened with writes to the host, which are made at the same time, in order.
func ordered(happened []string) []string {
	all := slices.Clone(happened)
	for i := range all {
		for j := i + 1; j < len(all) && strings.HasPrefix(all[i], "create") && strings.HasPrefix(all[j], "create"); j++ {
			if all[j] < all[i] {
				all[i], all[j] = all[j], all[i]
			}
		}
	}
	return all
}

func newParallelSet() *v1.StatefulSet {
	set := newSet("web")
	set.Spec.PodManagementPolicy = v1.ParallelPodManagement
	return set
}

func TestOnlyNewInputsAndMembersAreMarked(t *testing.T) {
	for sentence, test := range map[string]struct {
		change func(*v1.StatefulSet)
		marked bool
	}{
		"another image": {func(s *v1.StatefulSet) { s.Spec.Template.Spec.Containers[0].Image = "example.com/shop:2" }, false},
		"fewer members": {func(s *v1.StatefulSet) { s.Spec.Replicas = new(int32(2)) }, false},
		"more members":  {func(s *v1.StatefulSet) { s.Spec.Replicas = new(int32(4)) }, true},
		"another value": {func(s *v1.StatefulSet) { s.Spec.Identity.Values["ZONE"] = "b" }, true},
		"a value of one member": {func(s *v1.StatefulSet) {
			s.Spec.Overrides = []v1.MemberOverride{{Name: "one", Ordinals: []v1.OrdinalRange{{First: 1}}, Values: map[string]string{"ZONE": "b"}}}
		}, true},
		"an override without values": {func(s *v1.StatefulSet) {
			s.Spec.Overrides = []v1.MemberOverride{{Name: "one", Ordinals: []v1.OrdinalRange{{First: 1}}, Labels: map[string]string{"a": "b"}}}
		}, false},
		"another expression": {func(s *v1.StatefulSet) { s.Spec.Identity.Transforms[0].Expression = "ZONE" }, true},
	} {
		t.Run(sentence, func(t *testing.T) {
			m := newMarkingTerm(t, evaluatingSet())
			if _, err := m.look(t); err != nil {
				t.Fatal(err)
			}
			m.change(t, func(set *v1.StatefulSet) {
				test.change(set)
				set.Generation++
			})
			happened, err := m.look(t)
			if marked := slices.Contains(happened, "mark of test after 0"); err != nil || marked != test.marked {
				t.Errorf("got %q and error %v, want marked %t", happened, err, test.marked)
			}
		})
	}
}

func TestASetWhoseTrialCannotBeMadeIsNotEvaluated(t *testing.T) {
	m := newMarkingTerm(t, markedBy("old", 0, time.Second))
	m.ended = errors.New("no process can be started")
	happened, err := m.look(t)
	if !errors.Is(err, m.ended) || !slices.Equal(happened, []string{"trial"}) {
		t.Errorf("got %q and error %v, want a trial and %v", happened, err, m.ended)
	}
}

func TestNothingIsEvaluatedWithoutItsMark(t *testing.T) {
	m := newMarkingTerm(t, evaluatingSet())
	m.config.Sets.(*setsfake.Clientset).PrependReactor("update", "statefulsets", func(clienttesting.Action) (bool, runtime.Object, error) {
		return true, nil, errors.New("no way to the store")
	})
	_, err := m.look(t)
	known := m.states.getOrCreate(cache.MetaObjectToName(m.set))
	if err == nil || len(known.evaluated.members) > 0 || len(writesTo(m.host)) > 0 {
		t.Errorf("got error %v, members %v that were evaluated, and writes %v, want an error and nothing else", err, known.evaluated.members,
			writesTo(m.host))
	}
}

func TestAnEarlierRevisionWithTransformsIsMarked(t *testing.T) {
	before := evaluatingSet()
	revision := newRevision(before, "web-1")
	revision.Data.Raw = identity.RevisionData(identity.SourceOf(before))
	after := newParallelSet()
	after.Generation, after.Status.ObservedGeneration, after.Status.CurrentRevision = 2, 1, "web-1"
	m := newMarkingTerm(t, after, revision)
	happened, err := m.look(t)
	if err != nil || len(happened) == 0 || happened[0] != "mark of test after 0" {
		t.Errorf("got %q and error %v, want a mark first", happened, err)
	}
}
