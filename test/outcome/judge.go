// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package outcome

import (
	"fmt"

	v1 "statefulset.dev/api/apps/v1"
)

// Sync is one completed sync of the controller.
type Sync struct {
	// Clean is true if the controller's view of the cluster was up to date, and none of its writes
	// was refused, late or lost.
	Clean bool
}

// oracle checks one promise.
type oracle interface {
	// name is the name under which the oracle reports.
	name() string
}

// watcher is an oracle that judges changes.
type watcher interface {
	// changed receives the cluster before and after a change. before is nil at the beginning.
	changed(j *Judge, before, after *Scene, by Actor)
}

// syncWatcher is an oracle that must know which opportunities the controller has had.
type syncWatcher interface {
	synced(j *Judge, now *Scene, sync Sync)
}

// restWatcher is an oracle that judges a cluster in which nothing happens any more.
type restWatcher interface {
	rested(j *Judge, now *Scene)
}

// Judge checks the promises of a StatefulSet.
type Judge struct {
	oracles []oracle
	last    *Scene
	report  func(oracle, message string)
}

// NewJudge returns a judge that has seen nothing. It calls report for each broken promise.
func NewJudge(report func(oracle, message string)) *Judge {
	return &Judge{report: report, oracles: oracles()}
}

// See judges what an actor has changed since the last call.
func (j *Judge) See(by Actor, now Scene) {
	for _, o := range j.oracles {
		if w, is := o.(watcher); is {
			w.changed(j, j.last, &now, by)
		}
	}
	j.last = &now
}

// Synced records that the controller has synced the set. See must have been called for all changes
// of the sync.
func (j *Judge) Synced(sync Sync) {
	for _, o := range j.oracles {
		if w, is := o.(syncWatcher); is && j.last != nil {
			w.synced(j, j.last, sync)
		}
	}
}

// Rested judges a cluster at rest: the controller has nothing to do, waits for no time to pass, and
// the host cluster has done everything that it can.
func (j *Judge) Rested() {
	for _, o := range j.oracles {
		if w, is := o.(restWatcher); is && j.last != nil {
			w.rested(j, j.last)
		}
	}
}

// broken reports a broken promise.
func (j *Judge) broken(o oracle, format string, args ...any) {
	j.report(o.name(), fmt.Sprintf(format, args...))
}

// works reports whether the controller works on a set: the set exists, is not being deleted, and is
// not suspended.
func works(set *v1.StatefulSet) bool {
	if set == nil || set.DeletionTimestamp != nil {
		return false
	}
	_, suspended := set.Annotations[v1.HoldAnnotation]
	return !suspended
}

// enoughSyncs is how many clean syncs the controller needs to carry out a change of a policy.
const enoughSyncs = 3
