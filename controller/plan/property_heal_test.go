// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"bytes"
	"maps"
	"slices"

	v1 "statefulset.dev/api/apps/v1"
)

// ails reports whether there are pods that do not start, or may be.
func (s *stage) ails() bool {
	if s.hindered() {
		return true
	}
	for _, pod := range s.pods {
		if s.cannotStart(pod) {
			return true
		}
	}
	for _, revision := range s.revisions {
		if bytes.Contains(revision.Data.Raw, []byte(badImage)) {
			return true
		}
	}
	if s.failedToRender() {
		return true
	}
	return s.set.Spec.Template.Spec.Containers[0].Image == badImage || asksForNowhere(s.set)
}

// failedToRender reports whether there is a revision at which members cannot be rendered.
func (s *stage) failedToRender() bool {
	for _, revision := range s.revisions {
		if bytes.Contains(revision.Data.Raw, []byte(failsBeyond)) {
			return true
		}
	}
	return failsToRender(s.set)
}

// goesBackToBad reports whether a member that the update has yet to reach cannot start: an outdated
// view has lost the revision that was current.
func (s *stage) goesBackToBad() bool {
	current := s.revisions[s.set.Status.CurrentRevision]
	return current != nil && bytes.Contains(current.Data.Raw, []byte(badImage))
}

// heal is what a user does about pods that do not start: the template and the overrides are
// corrected, and the set is told to replace them, at all members. Where that is not for the set to do, the
// pods are deleted: members that are not wanted wait for each other to become ready.
func (s *stage) heal() {
	if !s.ails() {
		return
	}
	s.healObjects()
	s.happen("set", "image=nginx:1")
	if asksForNowhere(s.set) {
		s.happen("set", "overrides=none")
	}
	if failsToRender(s.set) {
		s.happen("set", "identity=none")
	}
	if (s.failedToRender() || s.goesBackToBad()) && s.set.Spec.UpdateStrategy.RollingUpdate != nil &&
		len(s.set.Spec.UpdateStrategy.RollingUpdate.Steps) > 0 {
		s.happen("set", "steps=none") // a member that has no pod at the current revision holds up an ordered set
	}
	if s.set.Spec.UpdateStrategy.Type == v1.RollingUpdateStatefulSetStrategyType {
		s.happen("set", "replaceUnreadyAfterSeconds=20")
		if rolling := s.set.Spec.UpdateStrategy.RollingUpdate; rolling.Partition != nil {
			s.happen("set", "partition=0")
		}
	}
	f := gather(s.world())
	for _, name := range slices.Sorted(maps.Keys(s.pods)) {
		replaced := f.wanted(f.ordinalOf(name)) && f.strategy() == v1.RollingUpdateStatefulSetStrategyType
		if pod := s.pods[name]; pod.DeletionTimestamp == nil && s.cannotStart(pod) && !replaced {
			s.happen("kill", name)
		}
	}
}
