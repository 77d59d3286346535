// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
)

// scaleDown removes the condemned pods, the highest ordinal first. The claims of
// a member that go with it must say so before its pod is removed. An ordered set
// removes one pod at a time, and does not remove an unhealthy one while a lower one
// is unhealthy too: both might be on their way to health, and the lower one counts
// more.
func (p *planner) scaleDown() bool {
	ready := p.claimsOfCondemned()
	if !p.ordered {
		for _, m := range ready {
			p.condemn(m)
		}
		return true
	}
	if len(p.condemned) == 0 {
		return true
	}
	highest := p.condemned[0]
	switch lower := p.lowestUnavailable(); {
	case len(ready) < len(p.condemned):
		p.wait("ClaimOwners", "the claims of removed members are being marked for deletion")
	case isTerminating(highest.pod):
		p.wait("MemberTerminating", "pod %s is terminating", highest.pod.Name)
	case p.unavailable(highest) && !p.isHopeless(highest) && lower.ordinal != highest.ordinal:
		p.wait("MemberNotAvailable", "pod %s is removed when pod %s is available", highest.pod.Name, lower.pod.Name)
	default:
		p.condemn(highest)
		p.wait("MemberSurplus", "pod %s is being removed", highest.pod.Name)
	}
	return false
}

// claimsOfCondemned plans the owners of the claims of condemned members, and
// returns the members whose claims have the right ones already.
func (p *planner) claimsOfCondemned() []member {
	var ready []member
	for _, m := range p.condemned {
		actions := p.ownClaims(m, false)
		p.act(actions...)
		if len(actions) == 0 {
			ready = append(ready, m)
		}
	}
	return ready
}

func (p *planner) condemn(m member) {
	if !isTerminating(m.pod) {
		p.act(DeletePod{Ordinal: m.ordinal, Pod: exact(m.pod), Reason: DeleteForScaleDown})
	}
}

// lowestUnavailable is the condemned member of the lowest ordinal that is not
// available and may still become so.
func (p *planner) lowestUnavailable() member {
	for _, m := range slices.Backward(p.condemned) {
		if p.unavailable(m) && !p.isHopeless(m) {
			return m
		}
	}
	return p.condemned[0]
}

// isHopeless reports whether a surplus pod will never be available: it has ended, or
// it waits for a claim, which surplus members do not get any more.
func (p *planner) isHopeless(m member) bool {
	if m.pod.Status.Phase != corev1.PodPending {
		return isFinished(m.pod)
	}
	for i := range p.Set.Spec.VolumeClaimTemplates {
		if p.claimOf(m, i) == nil {
			return true
		}
	}
	return false
}
