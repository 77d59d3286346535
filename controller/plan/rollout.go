// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"slices"

	"k8s.io/apimachinery/pkg/util/intstr"

	v1 "statefulset.dev/api/apps/v1"
)

// rollOut removes pods of an old revision, from the highest ordinal down to the
// partition, as long as no more than maxUnavailable members are unavailable. They
// come back at the new revision when they are gone.
func (p *planner) rollOut() bool {
	if p.Set.Spec.UpdateStrategy.Type != v1.RollingUpdateStatefulSetStrategyType || p.repairing {
		return true
	}
	budget := p.maxUnavailable() - (p.wanted - p.available)
	for _, m := range p.updatable() {
		if !isReady(m.pod) || isTerminating(m.pod) {
			p.replaceBroken(m)
		} else if budget > 0 {
			p.replace(m)
			budget--
		}
	}
	return true
}

// updatable are the members with an old revision from the partition on, the
// highest ordinal first.
func (p *planner) updatable() []member {
	var all []member
	for _, m := range slices.Backward(p.members) {
		if rank, _ := p.roster.Rank(m.ordinal); rank >= p.partition() && p.outdated(m) {
			all = append(all, m)
		}
	}
	return all
}

// replaceBroken removes an old pod that serves nobody anyhow: that costs no budget,
// and it must not keep a set from an update that repairs it. One that is ready, and
// only not for long enough, does not count as broken: all members would, if the clock
// were set back. An ordered set never gets here, because it waits for its members to
// be available first.
func (p *planner) replaceBroken(m member) {
	if !isTerminating(m.pod) && !isFinished(m.pod) {
		p.replace(m)
	}
}

func (p *planner) replace(m member) {
	p.act(DeletePod{Ordinal: m.ordinal, Pod: exact(m.pod), Reason: DeleteForUpdate})
	if revisionOf(m.pod) == p.current.name {
		p.replaced++
	}
	p.wait("MemberOutdated", "pod %s is being replaced at revision %s", m.pod.Name, p.update.name)
}

// partition is the number of members, from the first, that an update leaves alone.
func (p *planner) partition() int {
	rolling := p.Set.Spec.UpdateStrategy.RollingUpdate
	if rolling == nil || rolling.Partition == nil {
		return 0
	}
	return int(*rolling.Partition)
}

// maxUnavailable is how many members may be unavailable during an update, at
// least one: a share that rounds down to none would never get anywhere.
func (p *planner) maxUnavailable() int {
	rolling := p.Set.Spec.UpdateStrategy.RollingUpdate
	if rolling == nil || rolling.MaxUnavailable == nil {
		return 1
	}
	value, err := intstr.GetScaledValueFromIntOrPercent(rolling.MaxUnavailable, p.wanted, false)
	if err != nil {
		return 1
	}
	return max(value, 1)
}
