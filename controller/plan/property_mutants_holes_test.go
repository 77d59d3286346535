// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"slices"

	v1 "statefulset.dev/api/apps/v1"
	"statefulset.dev/controller/plan/action"
)

// holesMutants are wrong in how they count where ordinals are reserved: they take ordinals
// for a row.
func holesMutants() map[string]mutant {
	return map[string]mutant{
		"creates reserved members": {"member", func(w World, p Plan) Plan {
			f := gather(w)
			for _, ordinal := range f.holes() {
				if f.pods[f.podName(ordinal)] == nil && len(planned[action.CreateMember](&judged{plan: p})) > 0 {
					return also(p, created(w, p, ordinal))
				}
			}
			return p
		}},
		"removes members above as many as are wanted": {"reason to delete", func(w World, p Plan) Plan {
			f := gather(w)
			for _, ordinal := range f.ordinals {
				if pod := f.member(ordinal); pod != nil && f.place(ordinal) >= len(f.ordinals) && pod.DeletionTimestamp == nil && !isRemoved(p, pod) {
					return also(p, action.DeletePod{Ordinal: ordinal, Pod: action.Exact(pod), Reason: action.DeleteForScaleDown})
				}
			}
			return p
		}},
		"keeps reserved members": {"converge", func(w World, p Plan) Plan {
			return each(func(a action.DeletePod) []action.Action { return only(a, !isReserved(reservedBy(w.Set), a.Ordinal)) })(w, p)
		}},
		"waits for reserved members": {"converge", func(w World, p Plan) Plan {
			f := gather(w)
			return each(func(a action.CreateMember) []action.Action {
				return only(a, f.place(a.Ordinal) == slices.Index(f.ordinals, a.Ordinal))
			})(w, p)
		}},
		"updates by a partition of members": {"converge", func(w World, p Plan) Plan {
			f := gather(w)
			return each(func(a action.DeletePod) []action.Action {
				return only(a, a.Reason != action.DeleteForUpdate || !f.isMistakenlyBelowPartition(a.Ordinal))
			})(w, p)
		}},
		"lists reserved members as wanted": {"ordinals", func(_ World, p Plan) Plan {
			if all := p.Status.Ordinals; len(all) > 1 {
				p.Status.Ordinals = []v1.OrdinalRange{{First: all[0].First, Last: new(all[len(all)-1].End())}}
			}
			return p
		}},
	}
}

// holes are the reserved ordinals below the highest wanted one.
func (f evidence) holes() (ordinals []int) {
	if len(f.ordinals) == 0 {
		return nil
	}
	for ordinal := f.start(); ordinal < f.ordinals[len(f.ordinals)-1]; ordinal++ {
		if !f.wanted(ordinal) {
			ordinals = append(ordinals, ordinal)
		}
	}
	return ordinals
}

func (f evidence) start() int {
	if f.Set.Spec.Ordinals == nil {
		return 0
	}
	return int(f.Set.Spec.Ordinals.Start)
}

// place is where a member would be if no ordinal were reserved.
func (f evidence) place(ordinal int) int { return ordinal - f.start() }

// isMistakenlyBelowPartition is true of the members above the partition that would be below it if
// reserved ordinals did not count.
func (f evidence) isMistakenlyBelowPartition(ordinal int) bool {
	rolling := f.Set.Spec.UpdateStrategy.RollingUpdate
	return f.isAbovePartition(ordinal) && rolling != nil && rolling.Partition != nil &&
		slices.Index(f.ordinals, ordinal) < int(*rolling.Partition)
}

func reservedBy(set *v1.StatefulSet) []v1.OrdinalRange {
	if set.Spec.Ordinals == nil {
		return nil
	}
	return set.Spec.Ordinals.Reserved
}
