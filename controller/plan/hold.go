// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "statefulset.dev/api/apps/v1"
)

// mayAct reports whether anything may be planned at all, and says why if not.
func (p *planner) mayAct() bool {
	switch {
	case p.Set.DeletionTimestamp != nil, p.held, p.stalled != nil:
		return false
	case p.nameOwner() != "":
		p.blocked(v1.ReasonNameTaken, "%s; while it exists, nothing is done for this set: move it with kubectl sts migrate, or delete one of the two", p.nameOwner())
		return false
	}
	return !p.awaitsRevisions()
}

// holdMessage says that the set is held, and how to end that.
func (p *planner) holdMessage() string {
	why, _ := v1.Held(p.Set)
	return fmt.Sprintf("the annotation %s=%q holds the set: nothing is created, changed or deleted for it; to go on, remove it: kubectl annotate sset %s -n %s %s-",
		v1.HoldAnnotation, foreignText(why), p.Set.Name, p.Set.Namespace, v1.HoldAnnotation)
}

// nameOwner tells of a pod that has the name of a member, wanted or not, and belongs
// to a set of the same name in another group; empty if there is none. Two controllers
// that give their pods the same names would undo each other's work.
func (p *planner) nameOwner() string {
	var named string
	for _, pod := range p.Pods {
		controller := metav1.GetControllerOfNoCopy(pod)
		if controller == nil || controller.Kind != v1.Kind || controller.Name != p.Set.Name || controller.UID == p.Set.UID || p.refersToSet(*controller) {
			continue
		}
		if text := fmt.Sprintf("pod %s belongs to the %s StatefulSet %s", pod.Name, foreignWord(controller.APIVersion), controller.Name); named == "" || text < named {
			named = text
		}
	}
	return named
}

// freezeRevisions keeps the revisions that the status names: those of a held set are
// somebody else's to write, and of a set that waits for revisions they are not known.
func (p *planner) freezeRevisions() {
	p.awaiting = p.awaited()
	if p.frozen = p.held || p.awaiting != nil; p.frozen {
		p.current, p.update = &revision{name: p.Set.Status.CurrentRevision}, &revision{name: p.Set.Status.UpdateRevision}
	}
}

// awaitsRevisions reports whether a revision that the set's pods run, or that its
// status names as the current one, still belongs to somebody else: a set of this name
// has left its pods behind, and its revisions are about to follow. Until they do, the
// present template might be recorded a second time under another name, and pods
// would be replaced for nothing.
func (p *planner) awaitsRevisions() bool {
	if p.awaiting == nil {
		return false
	}
	controller := metav1.GetControllerOfNoCopy(p.awaiting)
	p.wait(v1.ReasonWaitingForRevisions, "revision %s, which the set's pods run, still belongs to the %s; nothing is done until it is given up",
		p.awaiting.Name, foreignOwner(controller))
	return true
}

// awaited is the first of the revisions that have to be given up before anything can
// be decided, nil if there is none.
func (p *planner) awaited() *appsv1.ControllerRevision {
	var first *appsv1.ControllerRevision
	for _, r := range p.Revisions {
		controller := metav1.GetControllerOfNoCopy(r)
		if controller != nil && controller.UID != p.Set.UID && (p.carried[r.Name] > 0 || r.Name == p.Set.Status.CurrentRevision) && (r.Name != p.update.name || len(p.adopt) > 0) && (first == nil || r.Name < first.Name) {
			first = r
		}
	}
	return first
}
