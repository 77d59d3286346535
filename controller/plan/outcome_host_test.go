// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	v1 "statefulset.dev/api/apps/v1"
	"statefulset.dev/test/outcome"
)

// outside is what a host does to a set whose outcomes are judged, beyond what every host does.
type outside struct {
	judge *outcome.Judge
	// set is the set as the judge saw it last.
	set *v1.StatefulSet
	// gone is true after the deletion of the set has ended.
	gone bool
	// hung are pods that do not end, sick are pods whose containers do not become ready again.
	hung, sick map[types.UID]bool
	// shy is true if containers are not ready while their pod hands over.
	shy bool
	// losing is true if the next status is not stored.
	losing bool
}

// weakImage is one with which a pod becomes ready once and never again.
const weakImage = "nginx:weak"

// noticed shows the judge what has changed.
func (h *host) noticed(by outcome.Actor) {
	if h.judge == nil {
		return
	}
	if by == outcome.User || by == outcome.Cluster || h.outside.set == nil {
		h.noticeSet()
	}
	scene := outcome.Scene{Now: h.now, Skew: h.skew, Set: h.outside.set, Pods: maps.Clone(h.pods), Claims: maps.Clone(h.claims)}
	h.judge.See(by, scene)
}

// noticeSet keeps the set for the judge; the host changes the set that it has.
func (h *host) noticeSet() {
	if h.outside.set = nil; !h.outside.gone {
		h.outside.set = h.set.DeepCopy()
	}
}

// byController is the controller as the judge sees it.
func (h *host) byController() outcome.Actor {
	if h.outdated != "" {
		return outcome.Outdated
	}
	return outcome.Controller
}

// synced shows the judge that a sync has ended.
func (h *host) synced(c *carrying) {
	if h.judge == nil {
		return
	}
	h.noticeSet()
	h.noticed(h.byController())
	h.judge.Synced(outcome.Sync{Clean: !c.stale && !c.crashed && len(c.failed) == 0 && h.outdated == "" && !h.losing})
	h.losing = false
}

// befall carries out the commands by which a host is unkind for good, and reports false if it knows
// no such command: "hang web-1" keeps a pod from ending, "sicken web-1" its containers from being
// ready, until "cure web-1"; "shy" has containers cease to be ready while their pods hand over;
// "losestatus" has the next status lost; "setgone" deletes
// the set and all that goes with it, and "rest" lets the host do all that it can. "looks" are four
// syncs, and "takeback 1" is a scale-in that the user takes back after one sync.
func (s *stage) befall(name string, args []string) bool {
	mark := func(marks *map[types.UID]bool) {
		if *marks == nil {
			*marks = map[types.UID]bool{}
		}
		for _, pod := range args {
			(*marks)[s.pods[pod].UID] = true
		}
	}
	switch name {
	case "hang":
		mark(&s.hung)
	case "sicken":
		mark(&s.sick)
		s.each(args, func(pod string) { s.ready(pod, corev1.ConditionFalse) })
	case "cure":
		for _, pod := range args {
			delete(s.hung, s.pods[pod].UID)
			delete(s.sick, s.pods[pod].UID)
		}
	case "shy":
		s.shy = true
	case "losestatus":
		s.losing = true
	case "round":
		s.round()
	case "tarry":
		s.tarry()
	case "setgone":
		s.outside.gone = true
		s.noticed(outcome.User)
		s.decay()
		s.judge.Rested()
	case "rest":
		s.rest()
	case "looks":
		for range 4 {
			s.lookAndTell()
		}
	case "takeback":
		before := *s.set.Spec.Replicas
		s.configure([]string{"replicas=" + args[0]})
		s.noticed(outcome.User)
		s.lookAndTell()
		s.configure([]string{fmt.Sprintf("replicas=%d", before)})
		s.noticed(outcome.User)
	case "work":
		s.work(mostWork)
	case "toil":
		s.work(1)
	case "midway":
		s.midway(s.number(args[0]))
	case "detour":
		s.detour()
	default:
		return false
	}
	return true
}

// unkind lets the host do what it does only to sets whose outcomes are judged, and reports whether
// that was all for a pod.
func (s *stage) unkind(name string) (acted []string, done bool) {
	pod := s.pods[name]
	running := pod.Status.Phase == corev1.PodRunning
	switch {
	case s.judge == nil:
		return nil, false
	case pod.DeletionTimestamp != nil && s.hung[pod.UID]:
		return nil, true
	case pod.DeletionTimestamp != nil:
		return nil, false
	case s.sick[pod.UID]:
		if s.restartable(name) { // other containers
			delete(s.sick, pod.UID)
			return nil, false
		}
		return nil, true
	case running && pod.Spec.Containers[0].Image == weakImage && isReady(pod):
		s.befall("sicken", []string{name})
		return []string{"sicken " + name}, true
	case running && s.shy && handsOver(pod):
		if said(pod, string(corev1.ContainersReady)) != corev1.ConditionTrue && !isReady(pod) {
			return nil, !s.restartable(name)
		}
		s.ready(name, corev1.ConditionFalse)
		return []string{"unready " + name + ", which hands over"}, true
	}
	return nil, false
}

// handsOver reports whether the agent of a pod has been asked, or the pod is out of service.
func handsOver(pod *corev1.Pod) bool {
	_, asked := askedOf(pod)
	return asked || said(pod, inServiceType) == corev1.ConditionFalse
}

// isStuck reports whether a claim does not grow, whatever the host does.
func (s *stage) isStuck(claim *corev1.PersistentVolumeClaim) bool {
	return s.judge != nil &&
		claim.Status.AllocatedResourceStatuses[corev1.ResourceStorage] == corev1.PersistentVolumeClaimControllerResizeInfeasible
}

// decay is what the garbage collector makes of a set that is gone.
func (s *stage) decay() {
	for range 6 {
		acted := s.collect()
		for _, name := range slices.Sorted(maps.Keys(s.pods)) {
			if s.pods[name].DeletionTimestamp != nil {
				s.gone(name)
				acted = append(acted, "gone "+name)
			}
		}
		if !s.happened(acted) {
			return
		}
	}
}

// longRest is for how long nothing has happened in a cluster that is at rest.
const longRest = 3 * time.Hour

// mostSyncs is how many syncs a set may need until the cluster is at rest.
const mostSyncs = 400

// rest lets the host do all that it can until the cluster is at rest, and has the outcome judged. The
// clock of the controller is right by then.
func (s *stage) rest() {
	s.losing = false // the controller would try again at once
	idle := time.Duration(0)
	s.setSkew("0s")
	for range mostSyncs {
		before, writes, lost := s.set.DeepCopy(), s.writes, s.losing
		p, done, failed := s.look()
		s.report(p, done, failed)
		acted := s.happened(slices.Concat(s.kubelet(), s.collect(), s.provision(), s.collectObjects(), s.answers()))
		if !acted {
			acted = s.happened(s.check())
		}
		acted = acted || lost || len(done) > 0 || s.writes > writes || !sameStatus(before, s.set)
		switch {
		case acted:
			idle = 0
			s.now = s.now.Add(time.Second)
		case p.RequeueAfter == 0 || idle >= longRest:
			s.noticed(outcome.Cluster)
			s.judge.Rested()
			return
		default:
			if idle += p.RequeueAfter; p.RequeueAfter > longRest { // a clock that was ahead has dated something
				idle = 0
			}
			s.now = s.now.Add(p.RequeueAfter)
			fmt.Fprintf(&s.log, "> wait %s\n", p.RequeueAfter)
		}
	}
	s.t.Fatalf("[outcome rest] the cluster does not come to rest within %d syncs", mostSyncs)
}

// sameStatus reports whether the status is the same for a user.
func sameStatus(before, after *v1.StatefulSet) bool {
	text := func(set *v1.StatefulSet) string {
		status := set.Status.DeepCopy()
		status.LastProgressTime = nil
		for i := range status.Conditions {
			status.Conditions[i].LastTransitionTime = metav1.Time{}
			status.Conditions[i].Message, _, _ = strings.Cut(status.Conditions[i].Message, " at ")
		}
		return status.String()
	}
	return text(before) == text(after)
}
