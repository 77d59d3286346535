//go:build differential

// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package differential

import (
	"fmt"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
)

// courses are what the fields of the statuses of sets went through, by what they are
// called in a difference.
type courses map[string]string

// courses tells what happened to statuses since the log had the given length. The
// fields that say where the set is must go through the same values on both sides. A
// counter goes through what its controller happened to see, but must not claim what
// never was.
func (s *side) courses(since int) courses {
	s.mu.Lock()
	defer s.mu.Unlock()
	all := courses{}
	owned := map[types.UID]*census{}
	for i, c := range s.log {
		if i == since {
			for _, counted := range owned {
				counted.begin()
			}
		}
		switch {
		case c.kind == pods:
			countPod(owned, c)
		case c.kind == sets && c.verb != gone:
			for _, field := range []string{"observedGeneration", "currentRevision", "updateRevision", "collisionCount"} {
				all.follow("course of set "+c.name+" status."+field, c.object, field, i >= since)
			}
		}
	}
	for i, c := range s.log {
		if i >= since && c.kind == sets && c.verb != gone {
			for what, claim := range censusOf(owned, c.object.GetUID()).falsehoods(c.object) {
				all["truth of set "+c.name+" status."+what] = claim
			}
		}
	}
	return all
}

// follow adds the value of a field to its course, if it is new; what was before the
// step only says where the course begins.
func (c courses) follow(what string, set *unstructured.Unstructured, field string, inStep bool) {
	value, ok, _ := unstructured.NestedFieldNoCopy(set.Object, "status", field)
	if !ok {
		value = missing
	}
	text := fmt.Sprint(value)
	switch before := c[what]; {
	case before == "" || !inStep:
		c[what] = text
	case before != text && !strings.HasSuffix(before, " "+text):
		c[what] = before + " then " + text
	}
}

func compareCourses(builtin, ours courses) []difference {
	var all []difference
	for _, what := range keysOf(builtin, ours) {
		if builtin[what] != ours[what] {
			all = append(all, difference{what: what, builtin: textOr(builtin[what]), ours: textOr(ours[what])})
		}
	}
	return all
}

// census knows how many pods a set owned, and how many of them were ready, at
// the least and at the most.
type census struct {
	ready                   map[string]bool
	fewest, most, mostReady int
}

func censusOf(owned map[types.UID]*census, set types.UID) *census {
	if owned[set] == nil {
		owned[set] = &census{ready: map[string]bool{}}
	}
	return owned[set]
}

// countPod counts a pod in where it belongs now, and nowhere else.
func countPod(owned map[types.UID]*census, pod change) {
	owner := types.UID("")
	if ref := metav1.GetControllerOfNoCopy(pod.object); ref != nil && pod.verb != gone {
		owner = ref.UID
	}
	for set, counted := range owned {
		if set != owner {
			delete(counted.ready, pod.name)
			counted.note()
		}
	}
	status, _, _ := unstructured.NestedMap(pod.object.Object, "status")
	ready, _ := conditionsOf(status)["Ready"].(map[string]any)
	of := censusOf(owned, owner)
	of.ready[pod.name] = status["phase"] == "Running" && ready["status"] == "True"
	of.note()
}

// begin forgets what was before the step.
func (c *census) begin() { c.fewest, c.most, c.mostReady = len(c.ready), len(c.ready), c.readyPods() }

func (c *census) note() {
	c.fewest, c.most, c.mostReady = min(c.fewest, len(c.ready)), max(c.most, len(c.ready)), max(c.mostReady, c.readyPods())
}

func (c *census) readyPods() int {
	ready := 0
	for _, is := range c.ready {
		if is {
			ready++
		}
	}
	return ready
}

// falsehoods are the counters of a status that claim more, or fewer, than there were.
func (c *census) falsehoods(set *unstructured.Unstructured) map[string]string {
	found := map[string]string{}
	for field, bounds := range map[string][2]int{
		"replicas":          {c.fewest, c.most},
		"readyReplicas":     {0, c.mostReady},
		"availableReplicas": {0, c.mostReady},
		"currentReplicas":   {0, c.most},
		"updatedReplicas":   {0, c.most},
	} {
		claim, _, _ := unstructured.NestedInt64(set.Object, "status", field)
		if int(claim) < bounds[0] || int(claim) > bounds[1] {
			found[field] = fmt.Sprintf("%d, and there were %d to %d", claim, bounds[0], bounds[1])
		}
	}
	return found
}
