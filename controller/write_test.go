// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"

	"k8s.io/client-go/kubernetes/fake"

	v1 "statefulset.dev/api/apps/v1"
	"statefulset.dev/controller/plan"
	"statefulset.dev/controller/plan/action"
	"statefulset.dev/identity"
)

// noting plays the store: it notes for which resource versions it was asked, and
// what had been written to the host by then.
type noting struct {
	host   *fake.Clientset
	answer error

	mu     sync.Mutex
	asked  []string
	before int
}

func (c *noting) waitDurable(_ context.Context, version string) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.asked = append(c.asked, version)
	c.before = len(writesTo(c.host))
	return c.answer
}

func createPod(set *v1.StatefulSet, ordinal int) plan.Plan {
	return plan.Plan{Chains: []action.Chain{{action.CreateMember{Pod: identity.Pod(set, &set.Spec.Template, "rev", ordinal)}}}}
}

func TestNothingIsWrittenForAGenerationThatMayGetLost(t *testing.T) {
	set := newSet("web")
	term, host := newTestTerm(t, set)
	store := &noting{host: host}
	term.config.WaitDurable = store.waitDurable

	for ordinal := range 2 {
		term.execute(t.Context(), nil, set, createPod(set, ordinal))
	}
	if want := []string{"7"}; !slices.Equal(store.asked, want) || store.before != 0 {
		t.Errorf("two plans for one generation: asked for versions %q after %d writes, want %q after none", store.asked, store.before, want)
	}

	next := set.DeepCopy()
	next.Generation, next.ResourceVersion = 2, "9"
	term.execute(holding(t, term, next), nil, next, createPod(next, 2))
	if want := []string{"7", "9"}; !slices.Equal(store.asked, want) || store.before != 2 {
		t.Errorf("a plan for the next generation: asked for versions %q after %d writes, want %q after 2", store.asked, store.before, want)
	}
	if want := []string{"web-0", "web-1", "web-2"}; !slices.Equal(created(host), want) {
		t.Errorf("pods created: got %q, want %q", created(host), want)
	}
}

func TestASetThatMayGetLostWaits(t *testing.T) {
	set := newSet("web")
	term, host := newTestTerm(t, set)
	store := &noting{host: host, answer: errors.New("the store was exchanged")}
	term.config.WaitDurable = store.waitDurable

	done := term.execute(t.Context(), nil, set, createPod(set, 0))
	if len(done.failures) != 1 || !errors.Is(done.failures[0].Err, store.answer) {
		t.Errorf("failures: got %v, want the reason of the store", done.failures)
	}
	if got := writesTo(host); len(got) > 0 {
		t.Errorf("writes to the host: got %v, want none", got)
	}

	ended, end := context.WithCancel(t.Context())
	end()
	if err := term.waitDurable(ended, set); !errors.Is(err, errTermOver) {
		t.Errorf("after the end of the term: got %v, want %v", err, errTermOver)
	}
}
