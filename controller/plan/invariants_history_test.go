// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"statefulset.dev/controller/plan/action"
)

// checkHistory fails the test if more revisions that nobody needs are left after a look
// than the set's limit says, whatever the host has refused of the plan. The removals of
// revisions themselves may be refused, and none is planned for a set for which nothing
// is, or that adopts something first.
func (h *host) checkHistory(view World, p Plan, failed []Failure) {
	h.t.Helper()
	f := gather(view)
	j := &judged{evidence: f, plan: p}
	adopts := len(planned[action.AdoptRevision](j)) + len(planned[action.AdoptPod](j))
	if h.writesLeft >= 0 || f.Set.DeletionTimestamp != nil || adopts > 0 || j.undecided() || f.builtinAlive() {
		return
	}
	for _, failure := range failed {
		if _, ok := failure.Action.(action.DeleteRevision); ok {
			return
		}
	}
	live := map[string]bool{view.Set.Status.CurrentRevision: true, p.Status.CurrentRevision: true, p.Status.UpdateRevision: true}
	for _, pod := range view.Pods {
		live[pod.Labels[appsv1.ControllerRevisionHashLabelKey]] = true
	}
	var dead []string
	for name, revision := range h.revisions {
		if h.owns(revision) && !live[name] {
			dead = append(dead, name)
		}
	}
	if limit := int(*h.set.Spec.RevisionHistoryLimit); len(dead) > limit {
		h.t.Fatalf("[history] %d revisions that nobody runs are left, more than %d: %v; the plan was %v", len(dead), limit, dead, p.All())
	}
}

func (h *host) owns(revision *appsv1.ControllerRevision) bool {
	controller := metav1.GetControllerOfNoCopy(revision)
	return controller != nil && controller.UID == h.set.UID
}

// builtinAlive reports whether a set of the same name in another group has pods, for
// as long as which nothing is done.
func (f evidence) builtinAlive() bool {
	for _, pod := range f.Pods {
		controller := metav1.GetControllerOfNoCopy(pod)
		if controller != nil && controller.UID == builtin(f.Set.Name)[0].UID {
			return true
		}
	}
	return false
}
