// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package outcome

// paused is the oracle for paused updates: while an update is paused, members are created at their
// previous version, and new members at the old version (docs/rollouts.md, "Pausing").
type paused struct {
	versions
	// emptied is true if the set has had no members while the update was paused, shrunk if it has
	// had fewer.
	emptied, shrunk bool
}

func newPaused() *paused { return &paused{versions: newVersions()} }

func (*paused) name() string { return "paused" }

func (o *paused) changed(j *Judge, before, after *Scene, by Actor) {
	o.judge(j, before, after, by)
	o.see(after, by)
	if before == nil || before.Set == nil || after.Set == nil || o.template == o.whole {
		o.emptied, o.shrunk = false, false
		return
	}
	o.emptied = o.emptied || isPaused(after.Set) && replicas(after.Set) == 0
	o.shrunk = o.shrunk || isPaused(after.Set) && replicas(after.Set) < replicas(before.Set)
}

func (o *paused) judge(j *Judge, before, after *Scene, by Actor) {
	if by != Controller || after.Set == nil || !isPaused(after.Set) || !o.clear(after.Set) || o.readily {
		return
	}
	if rollingOf(after.Set).ReplaceUnreadyAfterSeconds != nil {
		return // the update may have reached members that had no pod when the pause began
	}
	for _, c := range o.changes(before, after) {
		switch {
		case c.to != o.template || o.reached[c.n]:
		case c.restarted:
			j.broken(o, "restarted for the update: member %d at %s, although the update is paused", c.n, c.to)
		case o.emptied:
			j.broken(o, "created after a scale to 0: member %d at %s, which the paused update has not reached; it was at %s", c.n, c.to, o.whole)
		case o.shrunk:
			j.broken(o, "created after a scale-down: member %d at %s, which the paused update has not reached; it was at %s", c.n, c.to, o.whole)
		default:
			j.broken(o, "created: member %d at %s, which the paused update has not reached; it was at %s", c.n, c.to, o.whole)
		}
	}
}
