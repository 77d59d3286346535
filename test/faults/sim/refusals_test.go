// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package sim

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"sync"
	"testing"
	"time"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"statefulset.dev/test/faults/internal/scenarios"
	"statefulset.dev/test/faults/sim/model"
)

// refusesFor is for how long a policy refuses requests: long enough for the longest delay.
const refusesFor = 7 * time.Minute

// soon and withoutNews are within what time a request is sent that would be accepted now: after something
// has happened that can be watched, and without that.
const soon, withoutNews = 2 * time.Second, 61 * time.Second

// refused are the requests that a policy refuses.
var refused = map[string]func(c *call) bool{
	"pods are created":   func(c *call) bool { return c.Verb == "create" && c.Resource == model.Pods },
	"pod 1 is created":   func(c *call) bool { return c.Verb == "create" && c.Resource == model.Pods && ordinalIn(c) == 1 },
	"pods are changed":   func(c *call) bool { return c.Verb == "patch" && c.Resource == model.Pods },
	"pods are deleted":   func(c *call) bool { return c.Verb == "delete" && c.Resource == model.Pods },
	"claims are created": func(c *call) bool { return c.Verb == "create" && c.Resource == model.Claims },
	"claims are changed": func(c *call) bool { return c.Verb == "patch" && c.Resource == model.Claims },
	"objects are made":   func(c *call) bool { return c.Mutates() && c.Resource == model.ConfigMaps },
	"revisions are made": func(c *call) bool { return c.Mutates() && c.Resource == model.Revisions },
	"status is written":  func(c *call) bool { return c.Mutates() && c.Resource == model.Sets },
}

// TestRefusals has a policy refuse requests for minutes, and judges when what it would accept is sent.
func TestRefusals(t *testing.T) {
	n, open := 0, &counted{}
	trials := eachScenario(t, func(scenario scenarios.Scenario, _ verdict) (all []trial) {
		for _, what := range sortedKeys(refused) {
			for _, watched := range []bool{true, false} {
				if n++; !full() && n%5 != 0 {
					continue
				}
				within, end := soon, "its binding is deleted"
				if !watched || refusedBySets(what) {
					within, end = withoutNews, "it changes its mind"
				}
				for seed := range fullOr(2, 1) {
					all = append(all, trial{
						name: fmt.Sprintf("no %s until %s, seed %d", what, end, seed), scenario: scenario, seed: uint64(n + seed), random: seed > 0,
						fault: func() fault { return newPolicy(refused[what], watched, within, open).fault() },
					})
				}
			}
		}
		return all
	})
	report(t, "refusals", trials,
		"a policy refuses requests of one sort for 7 minutes; then they are sent within 2s of an event, or within a minute")
	if few := len(trials) / 4; open.n < few && os.Getenv("SIM_RUN") == "" {
		t.Errorf("got %d of %d runs in which something was refused at the end of the policy, want at least %d", open.n, len(trials), few)
	}
}

// counted counts what several runs come to.
type counted struct {
	mu sync.Mutex
	n  int
}

func (c *counted) add() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.n++
}

func refusedBySets(what string) bool { return what == "status is written" }

// policy refuses requests for a while.
type policy struct {
	refuses func(*call) bool
	watched bool
	within  time.Duration
	// runs counts those in which something is open at the end.
	runs *counted
	// open are the requests of which the last was refused, by the words of the request: which generation the set had then.
	open map[string]int64
	over time.Time
}

func newPolicy(refuses func(*call) bool, watched bool, within time.Duration, runs *counted) *policy {
	return &policy{refuses: refuses, watched: watched, within: within, runs: runs, open: map[string]int64{}}
}

func (p *policy) fault() fault {
	return fault{begin: p.begin, call: p.answer}
}

func (p *policy) begin(w *world) {
	must(w.host.Create(model.Bindings, "", &admissionv1.ValidatingAdmissionPolicyBinding{ObjectMeta: metav1.ObjectMeta{Name: "refuses"}}))
	w.after(refusesFor, func() { p.end(w) })
}

// answer refuses a call, or notes that it is sent.
func (p *policy) answer(w *world, c *call) bool {
	if !p.refuses(c) {
		return false
	}
	delete(p.open, wordsOf(c))
	if !p.over.IsZero() {
		return false
	}
	p.open[wordsOf(c)] = generationOf(w)
	w.refuse(c, apierrors.NewForbidden(schema.GroupResource{Group: c.Resource.Group, Resource: c.Resource.Resource}, c.Name,
		errors.New("a policy denied it")))
	return true
}

// end has the policy refuse no more, and judges some time later whether all that was refused was sent. What was
// refused before the set changed may not be wanted any more.
func (p *policy) end(w *world) {
	p.over = time.Now()
	p.forget(w)
	if len(p.open) > 0 {
		p.runs.add()
		w.trace("the policy refuses no more; refused are %v", sortedKeys(p.open))
	}
	if p.watched {
		must(w.host.Delete(model.Bindings, "", "refuses", metav1.DeleteOptions{}))
	}
	w.after(p.within, func() {
		p.forget(w)
		if len(p.open) > 0 {
			w.judge.broke("what the host would accept is sent", "%s after the policy ended these have not been sent: %v", p.within,
				sortedKeys(p.open))
		}
	})
}

// forget drops what was refused before the set changed.
func (p *policy) forget(w *world) {
	now := generationOf(w)
	maps.DeleteFunc(p.open, func(_ string, generation int64) bool { return generation != now })
}

// generationOf is the generation of the set, zero if there is none.
func generationOf(w *world) int64 {
	if set := w.present().set; set != nil {
		return set.Generation
	}
	return 0
}

// wordsOf tells requests apart. One that creates has the name in its object.
func wordsOf(c *call) string { return c.String() + " " + createdBy(c) }

// ordinalIn is the ordinal of what a call creates.
func ordinalIn(c *call) int { return ordinalOf(createdBy(c)) }

// createdBy is the name of what a call creates, empty if it creates nothing.
func createdBy(c *call) string {
	if c.Verb != "create" {
		return ""
	}
	object, err := c.server.Decode(c.Request)
	if err != nil {
		return ""
	}
	return object.GetName()
}
