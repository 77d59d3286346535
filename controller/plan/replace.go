// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"slices"

	v1 "statefulset.dev/api/apps/v1"
	"statefulset.dev/controller/plan/action"
	"statefulset.dev/controller/plan/words"
)

// replaceBrokenRequested removes, in an ordered set, broken pods whose replacement was requested:
// bringing up would wait for them first. That makes no available member unavailable, so it needs no
// budget.
func replaceBrokenRequested(f *facts, d *draft) verdict {
	if !f.ordered || d.repairing {
		return proceed
	}
	for m := range f.inUpdateOrder() {
		if f.isReplacementRequested(m) && isBroken(m.pod) && !d.changesPod(m) {
			removeRequested(f, d, m)
		}
	}
	return proceed
}

// replaceRequested removes the pods whose replacement was requested, as long as no more than
// maxUnavailable members are unavailable, with every update strategy. Members that an update
// replaces go first, and members that come last wait for the others.
func replaceRequested(f *facts, d *draft) verdict {
	if len(f.world.Set.Status.Replacements) == 0 || d.repairing {
		return proceed
	}
	barrier, kept := d.barrier(f), false
	for m := range f.inUpdateOrder() {
		switch {
		case !f.isReplacementRequested(m), isTerminating(m.pod), isFinished(m.pod), d.changesPod(m):
		case isBroken(m.pod):
			removeRequested(f, d, m)
		case barrier.blocks(m):
			kept = true
			d.postpone(f, m)
		case !d.budget.allows(f, m):
			most := f.maxUnavailable()
			d.wait("%s is replaced, as requested, as soon as that leaves no more than %d %s unavailable", m.pod.Name, most,
				words.Plural("member", most))
		case removeRequested(f, d, m):
			d.budget.spend(f, m)
		}
	}
	if kept {
		barrier.report(f, d)
	}
	return proceed
}

// removeRequested removes a pod whose replacement was requested, unless its member could not be
// created again. It reports whether it does.
func removeRequested(f *facts, d *draft, m member) bool {
	if !returnable(f, d, m) || d.waitForOwners(f, m) {
		d.postpone(f, m)
		return false
	}
	actions := remove(f, d, m, action.DeletePod{Reason: action.DeleteOnRequest, Turn: f.turnOf(m)})
	if removes(actions) {
		d.wait("%s is being replaced, as requested", m.pod.Name)
	}
	d.add(actions...)
	return true
}

// isReplacementRequested reports whether a user requested the replacement of a member's pod. The
// request names a pod, not a member, so it is fulfilled only once.
func (f *facts) isReplacementRequested(m member) bool {
	return m.pod != nil &&
		slices.ContainsFunc(f.world.Set.Status.Replacements, func(request v1.MemberReplacement) bool { return isFor(request, m) })
}

// isFor reports whether a request is for the current pod of a member.
func isFor(request v1.MemberReplacement, m member) bool {
	return m.pod != nil && int(request.Ordinal) == m.ordinal && request.PodUID == m.pod.UID
}

// replacing reports whether the replacement of a desired member was requested.
func (f *facts) replacing() bool {
	return len(f.world.Set.Status.Replacements) > 0 && slices.ContainsFunc(f.members, f.isReplacementRequested)
}

// replacementsOf are the requests whose pods still exist. As long as the pods of the set cannot be
// determined, all requests stay.
func replacementsOf(f *facts) (left []v1.MemberReplacement) {
	if f.badSelector != nil {
		return f.world.Set.Status.Replacements
	}
	for _, request := range f.world.Set.Status.Replacements {
		for m := range f.all() {
			if isFor(request, m) {
				left = append(left, request)
				break
			}
		}
	}
	return left
}
