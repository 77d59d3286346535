// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"slices"

	v1 "statefulset.dev/api/apps/v1"
	"statefulset.dev/controller/plan/action"
)

// replaceBrokenAsked removes, in an ordered set, broken pods whose replacement was requested:
// bringing up would wait for them first. That makes no available member unavailable, so it needs no
// budget.
func replaceBrokenAsked(f *facts, d *draft) verdict {
	if !f.ordered || d.repairing {
		return proceed
	}
	for m := range f.inUpdateOrder() {
		if f.asked(m) && isBroken(m.pod) && !d.changesPod(m) {
			removeAsked(f, d, m)
		}
	}
	return proceed
}

// replaceAsked removes the pods whose replacement was requested, as long as no more than
// maxUnavailable members are unavailable, with every update strategy. Members that an update
// replaces go first, and members that come last wait for the others.
func replaceAsked(f *facts, d *draft) verdict {
	if len(f.world.Set.Status.Replacements) == 0 || d.repairing {
		return proceed
	}
	barrier, kept := d.barrier(f), false
	for m := range f.inUpdateOrder() {
		switch {
		case !f.asked(m), isTerminating(m.pod), isFinished(m.pod), d.changesPod(m):
		case isBroken(m.pod):
			removeAsked(f, d, m)
		case barrier.holds(m):
			kept = true
			d.giveUp(f, m)
		case !d.purse.affords(f, m):
			d.wait("%s is replaced, as requested, as soon as that leaves no more than %d members unavailable", m.pod.Name, f.maxUnavailable())
		case removeAsked(f, d, m):
			d.purse.pay(f, m)
		}
	}
	if kept {
		barrier.tell(f, d)
	}
	return proceed
}

// removeAsked removes a pod whose replacement was requested, unless its member could not be created
// again. It reports whether it does.
func removeAsked(f *facts, d *draft, m member) bool {
	if !returnable(f, d, m) || d.waitForOwners(f, m) {
		d.giveUp(f, m)
		return false
	}
	actions := remove(f, d, m, action.DeletePod{Reason: action.DeleteAsked, Turn: f.turnOf(m)})
	if removes(actions) {
		d.wait("%s is being replaced, as requested", m.pod.Name)
	}
	d.each(actions...)
	return true
}

// asked reports whether a user requested the replacement of the pod that a member has. The request
// names a pod, not a member, so it is fulfilled only once.
func (f *facts) asked(m member) bool {
	return m.pod != nil &&
		slices.ContainsFunc(f.world.Set.Status.Replacements, func(request v1.MemberReplacement) bool { return isFor(request, m) })
}

// isFor reports whether a request is for the current pod of a member.
func isFor(request v1.MemberReplacement, m member) bool {
	return m.pod != nil && int(request.Ordinal) == m.ordinal && request.PodUID == m.pod.UID
}

// replacing reports whether the replacement of a desired member was requested.
func (f *facts) replacing() bool {
	return len(f.world.Set.Status.Replacements) > 0 && slices.ContainsFunc(f.members, f.asked)
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
