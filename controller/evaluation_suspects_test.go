// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/record"

	v1 "statefulset.dev/api/apps/v1"
	setsfake "statefulset.dev/client/clientset/versioned/fake"
	"statefulset.dev/identity"
)

// suspect is a set that a process was evaluating when it ended.
func suspect(name string) *v1.StatefulSet {
	set := newSet(name)
	set.Spec.Identity = evaluatingSet().Spec.Identity.DeepCopy()
	of := identity.EvaluationOf(set)
	set.Status.Evaluation = &v1.StatefulSetEvaluation{
		Generation: 1, Inputs: of.Inputs, Fields: of.Fields, Holder: "dead", StartedAt: new(metav1.Now())}
	return set
}

// A leader that takes over evaluates what its predecessor was at first, and does not begin with what two
// of them ended with; all other sets are worked on.
func TestALeaderEvaluatesSuspectsBeforeOtherSets(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		host, sets := fake.NewClientset(), setsfake.NewSimpleClientset(suspect("fine"), suspect("poison"), newSet("plain"))
		var log []string
		sets.PrependReactor("update", "statefulsets", func(action clienttesting.Action) (bool, runtime.Object, error) {
			set := action.(clienttesting.UpdateAction).GetObject().(*v1.StatefulSet)
			if len(log) < 3 {
				log = append(log, set.Name+": "+markWord(set))
			}
			return false, nil, nil
		})
		c, err := New(
			Config{Options: NewOptions(), Host: host, Sets: sets, Identity: "one", Trial: func(_ context.Context, request []byte) error {
				if strings.Contains(string(request), "poison") {
					return errTrialEnded
				}
				return nil
			}})
		if err != nil {
			t.Fatal(err)
		}
		ctx, end := context.WithCancel(t.Context())
		done := make(chan error, 1)
		go func() { done <- c.Run(ctx) }()
		defer func() {
			if err := <-done; err != nil {
				t.Errorf("running the controller: %v", err)
			}
		}()
		defer end()
		eventually(t, "the set that is not set aside, and the plain one, have pods", func() bool { return podCount(t, host) == 2 })
		const want = "fine: completed, fine: no mark, poison: stopped after 2"
		eventually(t, "the suspects were evaluated", func() bool { return len(log) == 3 })
		if got := strings.Join(log, ", "); got != want {
			t.Errorf("got the status writes %q, want %q first", got, want)
		}
		poison, err := sets.AppsV1().StatefulSets("shop").Get(t.Context(), "poison", metav1.GetOptions{})
		if err != nil || conditionOf(poison, v1.StatefulSetStalled).Reason != v1.ReasonEvaluationStopped {
			t.Errorf("got conditions %v and error %v, want Stalled with the reason %s", poison.Status.Conditions, err, v1.ReasonEvaluationStopped)
		}
	})
}

func TestASuspectThatHangsDoesNotKeepTheWorkersWaiting(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		term, _ := newTestTerm(t, suspect("web"))
		term.recorder = record.NewFakeRecorder(10)
		hangs := make(chan struct{})
		term.config.Sets.(*setsfake.Clientset).PrependReactor("update", "statefulsets", func(clienttesting.Action) (bool, runtime.Object, error) {
			<-hangs
			return false, nil, nil
		})
		began := time.Now()
		term.evaluateInterruptedSets(t.Context())
		if took := time.Since(began); took != interruptedSetTimeout {
			t.Errorf("the workers begin after %s, want %s", took, interruptedSetTimeout)
		}
		const want = "the controller leads and first evaluates set shop/web alone, because a process ended while evaluating it"
		if got := fmt.Sprint(term.interruptedSets.ready()); got != want || !term.interruptedSets.isEvaluating(term.marked()[0]) {
			t.Errorf("got readiness %q, want %q; and no worker may sync the set meanwhile", got, want)
		}
		close(hangs)
		term.syncs.Wait()
		if err := term.interruptedSets.ready(); err != nil {
			t.Errorf("got readiness %v after the evaluation, want none", err)
		}
	})
}

func TestOneThatEvaluatesAloneWaitsForTheOthersAndNotForEver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		term, _ := newTestTerm(t, newSet("web"))
		known := term.states.getOrCreate(cache.NewObjectName("shop", "web"))
		first, second, alone := &evaluation{term: term, state: known}, &evaluation{term: term, state: known},
			&evaluation{term: term, state: known, wasInterrupted: true}
		for _, e := range []*evaluation{first, second} {
			if err := e.acquire(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		began := time.Now()
		if err := alone.acquire(t.Context()); err == nil || time.Since(began) != evaluationPatience {
			t.Errorf("beside two others: got error %v after %s, want one after %s", err, time.Since(began), evaluationPatience)
		}
		first.end()
		first.end()
		second.end()
		if err := alone.acquire(t.Context()); err != nil {
			t.Errorf("after the others: got error %v, want none", err)
		}
		if err := first.acquire(t.Context()); err == nil {
			t.Error("beside one that is to be alone: got room, want none")
		}
	})
}
