// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"statefulset.dev/controller/plan/words"
)

// awaitRevisions stops while a revision that the set's pods run, or that its status names as the
// current one, still belongs to another controller: a set of this name has left its pods behind,
// and is about to release its revisions. Until then, the template might be recorded a second time
// under another name, and pods would be replaced without need.
func awaitRevisions(f *facts, d *draft) verdict {
	if f.awaiting == nil {
		return proceed
	}
	controller := metav1.GetControllerOfNoCopy(f.awaiting)
	d.wait("revision %s, which the set's pods run, is still owned by %s; the controller waits until that owner releases it",
		f.awaiting.Name, words.ForeignOwner(controller))
	return stop
}

// freezeRevisions keeps the revisions that the status names: another program may write those of a
// suspended set, and those of a set that waits for revisions are not known.
func (f *facts) freezeRevisions() {
	f.awaiting = f.awaited()
	if f.frozen() {
		f.current, f.update = &revision{name: f.world.Set.Status.CurrentRevision}, &revision{name: f.world.Set.Status.UpdateRevision}
	}
}

// awaited is the first of the revisions that their owner has to release before anything can be
// decided, nil if there is none.
func (f *facts) awaited() *appsv1.ControllerRevision {
	var first *appsv1.ControllerRevision
	for _, r := range f.world.Revisions {
		controller := metav1.GetControllerOfNoCopy(r)
		if controller != nil && controller.UID != f.world.Set.UID && (f.carried[r.Name] > 0 || r.Name == f.world.Set.Status.CurrentRevision) &&
			(r.Name != f.update.name || len(f.adopt) > 0) && (first == nil || r.Name < first.Name) {
			first = r
		}
	}
	return first
}
