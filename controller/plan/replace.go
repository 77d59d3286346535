// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"slices"

	v1 "statefulset.dev/api/apps/v1"
	"statefulset.dev/controller/plan/action"
)

// replaceBrokenAsked removes, in an ordered set, the pods that somebody has asked to have
// replaced and that are broken: bringing up would wait for them first. That takes nobody
// from service, so it costs no budget.
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

// replaceAsked removes the pods that somebody has asked to have replaced, as long as no more
// than maxUnavailable members are unavailable, whatever the update strategy. Members that an
// update replaces go first, and those that come last wait for the others.
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
			d.wait("%s is replaced, as asked, as soon as that leaves no more than %d members unavailable", m.pod.Name, f.maxUnavailable())
		case removeAsked(f, d, m):
			d.purse.pay(f, m)
		}
	}
	if kept {
		barrier.tell(f, d)
	}
	return proceed
}

// removeAsked removes a pod that somebody has asked to have replaced, unless its member could
// not be created again, and reports whether it does.
func removeAsked(f *facts, d *draft, m member) bool {
	if !returnable(f, d, m) || d.waitForOwners(f, m) {
		d.giveUp(f, m)
		return false
	}
	actions := remove(f, d, m, action.DeletePod{Reason: action.DeleteAsked, Turn: f.turnOf(m)})
	if removes(actions) {
		d.wait("%s is being replaced, as asked", m.pod.Name)
	}
	d.each(actions...)
	return true
}

// asked reports whether somebody has asked for the pod that a member has to be replaced. The
// request names a pod, not a member, so that it is fulfilled once.
func (f *facts) asked(m member) bool {
	return m.pod != nil &&
		slices.ContainsFunc(f.world.Set.Status.Replacements, func(request v1.MemberReplacement) bool { return isFor(request, m) })
}

// isFor reports whether a request is for the pod that a member has.
func isFor(request v1.MemberReplacement, m member) bool {
	return m.pod != nil && int(request.Ordinal) == m.ordinal && request.PodUID == m.pod.UID
}

// replacing reports whether a wanted member is to be replaced because somebody has asked for it.
func (f *facts) replacing() bool {
	return len(f.world.Set.Status.Replacements) > 0 && slices.ContainsFunc(f.members, f.asked)
}

// replacementsOf are the requests whose pods are still there. As long as it cannot be said
// which pods are the set's, they are all of them.
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
