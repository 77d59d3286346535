// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"maps"
	"slices"
	"strconv"

	v1 "statefulset.dev/api/apps/v1"
)

// isFair reports whether a run may come to rest as it should: with refusals, with pods that
// do not start or mount otherwise than they should, or while the set is held or its update
// paused, or without a right that it waits for, it may not; nor where members may be updated in place only.
func (s *stage) isFair() bool {
	return len(s.refuse) == 0 && !s.mute && s.set.Annotations == nil && !s.ails() && !s.shapeless() && !gather(s.world()).isPaused() &&
		!s.isRolledBack() && !gather(s.world()).failsBack() && !s.isOnly()
}

// removable are the ordinals that one could take from the set.
func (s *stage) removable() (ordinals []string) {
	for _, ordinal := range walked(s.set) {
		ordinals = append(ordinals, strconv.Itoa(ordinal))
	}
	return ordinals
}

// remove takes a member from a set at rest as a user does, by reserving its ordinal and
// wanting one member less in the same write, and fails the test if anything is done to
// another member or its claims, or another is created, before the set is at rest again.
func (s *stage) remove(ordinal int) {
	s.converge(false)
	before := s.versions(ordinal)
	s.ordinals().Reserved = append(slices.Clone(s.ordinals().Reserved), v1.OrdinalRange{First: int32(ordinal)})
	s.set.Spec.Replicas = new(*s.set.Spec.Replicas - 1)
	s.set.Generation++
	s.converge(false)
	if after := s.versions(ordinal); !maps.Equal(before, after) {
		s.t.Fatalf("[removal] member %d is removed, and the versions of the others' pods and claims were\n%v\nand are\n%v", ordinal, before,
			after)
	}
}

// versions are those of the set's pods and of claims, but for the ones of a member.
func (s *stage) versions(but int) map[string]string {
	f, versions := gather(s.world()), map[string]string{}
	for name, pod := range s.pods {
		if f.mine(pod) && f.ordinalOf(name) != but {
			versions["pod "+name] = pod.ResourceVersion
			if _, names := pod.Annotations[v1.ReplicasAnnotation]; names {
				versions["pod "+name] = string(pod.UID) // it is told that there are fewer
			}
		}
	}
	for name, claim := range s.claims {
		versions["claim "+name] = claim.ResourceVersion
	}
	for i := range s.set.Spec.VolumeClaimTemplates {
		delete(versions, "claim "+f.claimName(s.set.Spec.VolumeClaimTemplates[i].Name, but))
	}
	return versions
}
