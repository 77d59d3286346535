// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	v1 "statefulset.dev/api/apps/v1"
)

// The themes of rollouts: sequences about what a set does with another template.
var (
	pausedUpdates   = theme{[]string{"direction"}, []string{"replicas", "emptied", "again", "halt", "halt", "resume", "image", "image", "work", "work"}}
	failingUpdates  = theme{[]string{"failurePolicy", "minReadySeconds"}, []string{"weak", "image", "image", "emptied", "again", "work", "work", "rest", "kill"}}
	undoneUpdates   = theme{[]string{"failurePolicy"}, []string{"abort", "abort", "strategy", "strategy", "image", "work", "work", "kill", "rest"}}
	steppedUpdates  = theme{[]string{"steps"}, []string{"restep", "restep", "image", "image", "work", "work", "replicas", "promote"}}
	dividedUpdates  = theme{[]string{"partition"}, []string{"reserved", "reserved", "image", "work", "work", "kill", "rest"}}
	gatedUpdates    = theme{[]string{"gates", "policy", "inPlace"}, []string{"shy", "gates", "image", "image", "look", "toil", "toil", "answer"}}
	annotatedClaims = theme{[]string{"claims", "volumeClaimUpdate"}, []string{"ours", "claims", "volumeClaimUpdate", "rest", "work"}}
)

// restepped are lists of steps each of which comes from another by a small change.
var restepped = []string{"1/2:manual", "2:manual", "1/2:manual/4", "1/50%:manual", "50%:manual", "1/2/3:manual", "1:manual/3", "1:manual", "2/3:manual", "none"}

// rolloutCommandFor is the command for an event of the themes of rollouts, and false for other events.
func (s *stage) rolloutCommandFor(e event) ([]string, bool) {
	rolls := s.set.Spec.UpdateStrategy.Type == v1.RollingUpdateStatefulSetStrategyType
	change := func(possible bool, setting string) ([]string, bool) {
		if !possible {
			return nil, true
		}
		return []string{"set", setting}, true
	}
	switch e.Kind {
	case "work", "toil":
		return []string{e.Kind}, true
	case "emptied":
		return change(true, "replicas=0")
	case "again":
		return change(true, "replicas=3")
	case "halt":
		return change(rolls, "paused=true")
	case "resume":
		return change(rolls, "paused=false")
	case "restep":
		return change(rolls, "steps="+choice(restepped, e.Value))
	case "ours":
		return change(s.set.Spec.VolumeClaimUpdate != nil && len(s.set.Spec.VolumeClaimTemplates) > 0, "claimAnnotation="+choice([]string{ownerNote, v1.RetiredAtAnnotation}, e.Value))
	}
	return nil, false
}

// mostWork is how many syncs a host works through.
const mostWork = 12

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
