// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"fmt"
	"maps"
	"slices"

	v1 "statefulset.dev/api/apps/v1"
	"statefulset.dev/test/outcome"
)

// The themes of rollouts: sequences about what a set does with another template.
var (
	pausedUpdates = aboutRollouts([]string{"direction"}, "emptied", "retreat", "more", "halt", "resume", "second", "midway", "midway",
		"work", "work")
	failingUpdates = aboutRollouts([]string{"failurePolicy", "minReadySeconds"}, "weak", "image", "image", "emptied", "more", "work", "work",
		"rest", "kill")
	undoneUpdates = aboutRollouts([]string{"failurePolicy"}, "abort", "abort", "calm", "calm", "roll", "roll", "detour", "detour",
		"strategy", "second", "second", "work", "work", "kill", "rest")
	bakedUpdates = aboutRollouts([]string{"steps", "minReadySeconds"}, "bake", "bake", "work", "work", "work", "wait", "wait", "true",
		"true", "second", "kill", "promote")
	steppedUpdates = aboutRollouts([]string{"steps"}, "canary", "restep", "work", "work", "second", "replicas", "promote")
	dividedUpdates = aboutRollouts([]string{"partition"}, "reserved", "reserved", "second", "second", "work", "work", "outage", "rest",
		"more")
	gatedUpdates = aboutRollouts([]string{"gates", "policy", "inPlace"}, "shy", "gates", "second", "image", "look", "toil", "toil",
		"answer")
	annotatedClaims = aboutRollouts([]string{"claims", "volumeClaimUpdate"}, "ours", "claims", "volumeClaimUpdate", "rest", "work")
)

// aboutRollouts is a theme whose events make up half of its sequences.
func aboutRollouts(fields []string, events ...string) theme {
	return theme{fields, slices.Repeat(events, 4)}
}

// restepped are lists of steps each of which comes from another by a small change.
var restepped = []string{"1/2:manual", "2:manual", "1/2:manual/3", "1:manual"}

// baking are lists of steps that ask for more than members that are available.
var baking = []string{"1:bake=60/2", "1/2:bake=30", "1:if=ok/2", "1/2:if=ok:bake=20", "2:bake=20:if=ok"}

// rolloutCommandFor is the command for an event of the themes of rollouts, and false for other events.
func (s *stage) rolloutCommandFor(e event) ([]string, bool) {
	rolls := s.set.Spec.UpdateStrategy.Type == v1.RollingUpdateStatefulSetStrategyType
	change := func(possible bool, settings ...string) ([]string, bool) {
		if !possible {
			return nil, true
		}
		return append([]string{"set"}, settings...), true
	}
	switch e.Kind {
	case "work", "toil", "detour":
		return []string{e.Kind}, true
	case "midway":
		if !rolls {
			return nil, true
		}
		return []string{e.Kind, fmt.Sprint(1 + e.Value%6)}, true
	case "emptied":
		return change(true, "replicas=0")
	case "retreat":
		return change(rolls, "replicas=1", "paused=true")
	case "more":
		return change(true, "replicas=4")
	case "second":
		return change(true, "image=nginx:2")
	case "calm":
		return change(true, "strategy=OnDelete")
	case "roll":
		return change(true, "strategy=RollingUpdate")
	case "outage":
		return append([]string{"kill"}, slices.Sorted(maps.Keys(s.pods))...), true
	case "halt":
		return change(rolls, "paused=true")
	case "resume":
		return change(rolls, "paused=false")
	case "restep":
		return change(rolls, "steps="+choice(restepped, e.Value))
	case "bake":
		return change(rolls, "steps="+choice(baking, e.Value), "image=nginx:2")
	case "canary":
		return change(rolls, "steps="+choice(restepped, e.Value), "image=nginx:2")
	case "ours":
		return change(s.set.Spec.VolumeClaimUpdate != nil && len(s.set.Spec.VolumeClaimTemplates) > 0,
			"claimAnnotation="+choice([]string{ownerNote, v1.RetiredAtAnnotation}, e.Value))
	}
	return nil, false
}

// mostWork is how many syncs a host works through.
const mostWork = 12

// midway is a user who gives the set another template, and pauses the update after some syncs.
func (s *stage) midway(syncs int) {
	s.configure([]string{"image=nginx:2"})
	s.noticed(outcome.User)
	s.work(syncs)
	s.configure([]string{"paused=true"})
	s.noticed(outcome.User)
}

// detour is a user who sets the strategy OnDelete for a time, and Recreate when a node has failed that ran
// all pods.
func (s *stage) detour() {
	s.configure([]string{"strategy=OnDelete"})
	s.noticed(outcome.User)
	s.work(mostWork)
	for _, name := range slices.Sorted(maps.Keys(s.pods)) {
		s.gone(name)
	}
	s.noticed(outcome.Cluster)
	s.configure([]string{"strategy=Recreate"})
	s.noticed(outcome.User)
	s.work(mostWork)
}

// work lets the host do what it does by itself until nothing more happens: nobody answers, promotes or
// says that a pod is fine. Where it toils, the host does a part of that.
func (s *stage) work(syncs int) {
	for range syncs {
		before, writes := s.set.DeepCopy(), s.writes
		p, done, failed := s.look()
		s.report(p, done, failed)
		acted := s.happened(append(append(s.kubelet(), s.collect()...), s.provision()...))
		if !acted && len(done) == 0 && s.writes == writes && sameStatus(before, s.set) {
			return
		}
	}
}
