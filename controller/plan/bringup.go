// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "statefulset.dev/api/apps/v1"
	"statefulset.dev/identity"
)

// bringUp makes every wanted ordinal a healthy member, the lowest first. An
// ordered set goes on to the next ordinal only when this one is available.
func (p *planner) bringUp() bool {
	for _, m := range p.members {
		if !p.bringUpMember(m) && p.ordered {
			return false
		}
	}
	return true
}

// bringUpMember plans what one member needs, and reports whether it is available.
func (p *planner) bringUpMember(m member) bool {
	switch {
	case m.pod == nil:
		p.create(m)
		return false
	case isFinished(m.pod):
		if !isTerminating(m.pod) {
			p.act(DeletePod{Ordinal: m.ordinal, Pod: exact(m.pod), Reason: DeleteFinished})
		}
		p.wait("MemberFinished", "pod %s has ended (%s); it is created anew when it is gone", m.pod.Name, m.pod.Status.Phase)
		return false
	default:
		p.complete(m)
		return p.waitFor(m)
	}
}

// create plans the creation of a member that has no pod.
func (p *planner) create(m member) {
	name := p.podName(m)
	if m.taken != nil {
		p.explainTaken(m.taken)
		return
	}
	claims, usable := p.lackingClaims(m)
	if !usable {
		return
	}
	revision := p.revisionFor(m)
	template, err := p.templateAt(revision)
	if err != nil {
		p.blocked(v1.ReasonRevisionUnreadable, "pod %s needs revision %s: %v", name, revision.name, foreignText(err.Error()))
		return
	}
	p.act(CreateMember{Ordinal: m.ordinal, Claims: claims, Pod: identity.Pod(p.Set, template, revision.name, m.ordinal)})
	p.act(p.ownClaims(m, true)...)
	p.wait("MemberMissing", "pod %s is being created", name)
}

// revisionFor says at which revision a missing member is created: below the
// partition, or below the number of members that still have it if there is no
// partition, at the current one, so that losing a pod does not update it early.
func (p *planner) revisionFor(m member) *revision {
	strategy := p.Set.Spec.UpdateStrategy
	if strategy.Type != v1.RollingUpdateStatefulSetStrategyType {
		return p.update
	}
	keep := p.partition()
	if strategy.RollingUpdate == nil {
		keep = p.notReached()
	}
	if rank, _ := p.roster.Rank(m.ordinal); rank < keep {
		return p.current
	}
	return p.update
}

// notReached is the number of members that an update without a partition has yet to
// reach. It is counted here, because the status may be older than the last removal,
// and a member that comes back as it was removed is removed again. A parallel set
// removes broken members out of order, so the number says nothing about which.
func (p *planner) notReached() int {
	if !p.ordered {
		return 0
	}
	waiting := 0
	for _, m := range p.members {
		if m.pod != nil && !isTerminating(m.pod) && revisionOf(m.pod) == p.current.name {
			waiting++
		}
	}
	return waiting
}

// explainTaken says why a member cannot be created under its own name. A pod that
// an earlier set of the same name left behind is the garbage collector's to remove;
// about any other somebody has to decide.
func (p *planner) explainTaken(pod *corev1.Pod) {
	controller := metav1.GetControllerOfNoCopy(pod)
	switch {
	case isTerminating(pod):
		p.wait("NameTaken", "another pod named %s is terminating", pod.Name)
	case controller == nil:
		p.blocked(v1.ReasonNameTaken, "pod %s exists and is not the set's: nobody controls it, and its labels do not match the set's selector", pod.Name)
	case controller.UID == p.Set.UID:
		p.wait("NameTaken", "pod %s is being released, because its labels no longer match the set's selector", pod.Name)
	case p.refersToSet(*controller):
		p.wait("NameTaken", "pod %s belongs to an earlier set of this name and is about to be removed", pod.Name)
	default:
		p.blocked(v1.ReasonNameTaken, "pod %s exists and is not the set's: it is controlled by %s", pod.Name, foreignOwner(controller))
	}
}

// complete plans what a pod that exists may lack: claims that it cannot start
// without, the owners of its claims, and the labels of its identity. The claims
// that a pod mounts cannot be changed, so a pod with others is left to people.
func (p *planner) complete(m member) {
	if m.pod.Status.Phase == corev1.PodPending && !isTerminating(m.pod) {
		if claims, usable := p.lackingClaims(m); usable && len(claims) > 0 {
			p.act(CreateClaims{Ordinal: m.ordinal, Claims: claims})
		}
	}
	p.act(p.ownClaims(m, true)...)
	if isTerminating(m.pod) {
		return
	}
	if m.pod.Labels[appsv1.StatefulSetPodNameLabel] != m.pod.Name {
		p.act(RepairPod{Ordinal: m.ordinal, Pod: exact(m.pod), Labels: identity.Labels(p.Set.Name, m.ordinal)})
		p.repairing = true
	}
	if !identity.MountsClaims(p.Set, m.ordinal, m.pod) {
		p.blocked(v1.ReasonClaimsNotMounted, "pod %s does not mount the claims of member %d; delete the pod to have it created with them", m.pod.Name, m.ordinal)
	}
}

// waitFor reports whether a member is available, and says what is missing if not.
func (p *planner) waitFor(m member) bool {
	switch {
	case isTerminating(m.pod):
		p.wait("MemberTerminating", "pod %s is terminating; it is created anew when it is gone", m.pod.Name)
	case !isReady(m.pod):
		if p.waiting == nil { // to say why takes long, and only the first counts
			p.wait("MemberNotReady", "%s: %s", m.pod.Name, diagnose(m.pod))
		}
	case !p.isAvailable(m.pod):
		at, _ := p.availableAt(m.pod)
		p.wait("MemberNotAvailable", "waiting for %s to be available at %s (minReadySeconds is %d)", m.pod.Name, clock(at), p.Set.Spec.MinReadySeconds)
	default:
		return true
	}
	return false
}
