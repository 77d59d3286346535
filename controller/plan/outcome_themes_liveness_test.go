// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"maps"
	"slices"

	v1 "statefulset.dev/api/apps/v1"
	"statefulset.dev/test/outcome"
)

// The themes of liveness: sequences about pods and claims that do not come along.
var (
	endingPods    = aboutLiveness([]string{"rate"}, "parallel", "hang", "hang", "fewer", "fewer", "many", "rest", "look")
	brokenSurplus = aboutLiveness(nil, "ordered", "sicken", "sicken", "fewer", "many", "rest")
	growingClaims = aboutLiveness([]string{"claims", "volumeClaimUpdate"}, "plain", "parallel", "grow", "infeasible", "infeasible", "outage",
		"next", "next", "rest", "round")
	drainedPods    = aboutLiveness([]string{"drain", "inPlace"}, "ordered", "shy", "shy", "next", "next", "round", "rest")
	askedPods      = aboutLiveness([]string{"gates"}, "plain", "ordered", "shy", "shy", "ask", "ask", "next", "next", "next", "rest", "rest")
	exportedClaims = aboutLiveness([]string{"claims", "scaledAfterSeconds"}, "export", "export", "delay", "rest", "rest")
	askedRestarts  = aboutLiveness([]string{"gates", "inPlace"}, "plain", "all at once", "ask", "unasked", "next", "next", "next", "look",
		"rest")
	patientRestarts = aboutLiveness([]string{"inPlace"}, "patience", "next", "next", "tarry", "tarry", "rest")
)

// aboutLiveness is a theme whose events make up most of its sequences.
func aboutLiveness(fields []string, events ...string) theme {
	return theme{fields, slices.Repeat(events, 4)}
}

// livenessCommandFor is the command for an event of the themes of liveness, and false for other events.
func (s *stage) livenessCommandFor(e event) ([]string, bool) {
	rolls := s.set.Spec.UpdateStrategy.Type == v1.RollingUpdateStatefulSetStrategyType
	follows := s.set.Spec.VolumeClaimUpdate != nil && len(s.set.Spec.VolumeClaimTemplates) > 0
	able := slices.Sorted(maps.Keys(s.pods))
	change := func(possible bool, settings ...string) ([]string, bool) {
		if !possible {
			return nil, true
		}
		return append([]string{"set"}, settings...), true
	}
	switch e.Kind {
	case "round":
		return []string{e.Kind}, true
	case "parallel":
		return change(true, "policy=Parallel")
	case "ordered":
		return change(true, "policy=OrderedReady")
	case "fewer":
		return change(true, "replicas="+choice([]string{"1", "0", "2"}, e.Value))
	case "many":
		return change(true, "replicas="+choice([]string{"6", "10"}, e.Value))
	case "next":
		return change(true, "image="+choice([]string{"nginx:2", "nginx:3"}, e.Value))
	case "grow":
		return change(follows, "claims=www:"+choice([]string{"2Gi", "3Gi"}, e.Value))
	case "outage":
		if len(able) == 0 {
			return nil, true
		}
		return append([]string{"sicken"}, able...), true
	case "plain":
		return change(true, "strategy=RollingUpdate")
	case "all at once":
		return change(true, "strategy=Recreate")
	case "ask":
		return change(true, "gates=handed-over")
	case "unasked":
		return change(true, "inPlace=IfPossible", "gates=none")
	case "delay":
		return change(true, "scaledAfterSeconds=60")
	case "export":
		return change(len(s.set.Spec.VolumeClaimTemplates) > 0, "volumeClaimUpdate=InPlace",
			"claimAnnotation="+choice([]string{v1.OwnerAnnotation, v1.RetiredAtAnnotation}, e.Value))
	case "patience":
		return change(rolls, "inPlace=IfPossible", "grace=10000000000")
	case "tarry":
		return []string{e.Kind}, true
	}
	return nil, false
}

// round is one sync, and all that the host does after it by itself.
func (s *stage) round() {
	p, done, failed := s.look()
	s.report(p, done, failed)
	s.happened(append(append(s.kubelet(), s.collect()...), s.provision()...))
}

// tarry has nodes see what is asked of their pods, and do nothing about it for a sync.
func (s *stage) tarry() {
	s.lookAndTell()
	s.command("observe", slices.Sorted(maps.Keys(s.pods)))
	s.noticed(outcome.Cluster)
	s.lookAndTell()
}
