// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package outcome

import v1 "statefulset.dev/api/apps/v1"

// undone is the oracle for aborted and rolled back updates: they are not tried again before the set
// has another template (docs/rollouts.md).
type undone struct {
	versions
	// undone is the version that was aborted or rolled back, empty if none was, and word is which
	// of both.
	undone, word string
	// syncs counts the clean syncs since.
	syncs int
	// otherwise is another strategy type that the set has had since.
	otherwise string
	// stale is true after the set was suspended or deleted, until the next sync that works on it:
	// the status still has the record of the previous template.
	stale bool
}

func newUndone() *undone { return &undone{versions: newVersions()} }

func (*undone) name() string { return "undone" }

func (o *undone) changed(j *Judge, before, after *Scene, by Actor) { //nolint:gocyclo // each condition is one reason to say nothing
	if after.Set == nil {
		return
	}
	o.judge(j, before, after, by)
	o.see(after, by)
	if o.undone != o.template || o.mixed {
		o.undone, o.otherwise, o.syncs = "", "", 0
	}
	set, record := after.Set, decided(after.Set)
	if kind := set.Spec.UpdateStrategy.Type; o.undone != "" && kind != v1.RollingUpdateStatefulSetStrategyType {
		o.otherwise = string(kind)
	}
	o.stale = o.stale || !works(set)
	switch {
	case !o.stale && observed(set) && o.clear(set) && !o.mayBe && !o.readily && (record.Aborted || record.Rollback):
		if o.undone, o.word = o.template, "rolled back"; record.Aborted {
			o.word = "aborted"
		}
	case by == User && o.undone != "" &&
		(before != nil && before.Set != nil && decided(before.Set).Aborted && !record.Aborted || record.PromotedAll || record.PromotedStep > 0):
		o.undone, o.otherwise = "", ""
	}
}

func (o *undone) judge(j *Judge, before, after *Scene, by Actor) {
	kind := after.Set.Spec.UpdateStrategy.Type
	if by != Controller || o.undone == "" || kind == v1.OnDeleteStatefulSetStrategyType || !o.clear(after.Set) {
		return
	}
	for _, c := range o.changes(before, after) {
		if c.to != o.undone {
			continue
		}
		switch {
		case kind == v1.RecreateStatefulSetStrategyType:
			j.broken(o, "tried again by Recreate: member %d is updated to %s, which was %s", c.n, c.to, o.word)
		case o.otherwise != "":
			j.broken(o, "tried again after %s: member %d is updated to %s, which was %s", o.otherwise, c.n, c.to, o.word)
		case o.syncs == 0:
			j.broken(o, "tried at once: member %d is updated to %s, which was %s", c.n, c.to, o.word)
		default:
			j.broken(o, "tried again: member %d is updated to %s, which was %s", c.n, c.to, o.word)
		}
	}
}

func (o *undone) synced(_ *Judge, now *Scene, sync Sync) {
	if !sync.Clean || !works(now.Set) {
		return
	}
	if o.undone != "" {
		o.syncs++
	}
	o.stale = false
}
