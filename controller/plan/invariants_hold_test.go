// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "statefulset.dev/api/apps/v1"
	"statefulset.dev/controller/plan/action"
	"statefulset.dev/identity"
)

// restOfHeldSet: nothing is done for a set that is held, and it never says that it is
// ready or worked on.
func (j *judged) restOfHeldSet() {
	if !j.held() {
		return
	}
	if len(j.plan.All()) > 0 {
		j.broke("held set", "a set that is held gets the plan %v", j.plan.All())
	}
	for _, condition := range j.plan.Status.Conditions {
		if condition.Status == corev1.ConditionTrue &&
			(condition.Type == v1.StatefulSetReady || condition.Type == v1.StatefulSetReconciling && j.Set.DeletionTimestamp == nil) {
			j.broke("held set", "a set that is held says %v", condition)
		}
	}
	j.revisionsStay("held set")
}

// waitsForRevisions: as long as a revision that a member has belongs to somebody else,
// nothing that could replace the member is done.
func (j *judged) waitsForRevisions() {
	if !j.awaits() {
		return
	}
	if n := len(planned[action.DeletePod](j)) + len(planned[action.CreateMember](j)) + len(planned[action.CreateRevision](j)); n > 0 {
		j.broke("revisions first", "a revision that members have is not the set's, and the plan is %v", j.plan.All())
	}
	j.revisionsStay("revisions first")
}

// awaits reports whether a member has, or the status names as the current one, a
// revision that somebody else controls, and that is not the present one.
func (f evidence) awaits() bool {
	for _, revision := range f.Revisions {
		controller := metav1.GetControllerOfNoCopy(revision)
		if controller == nil || controller.UID == f.Set.UID || f.isOfTheTemplate(revision) {
			continue
		}
		if revision.Name == f.Set.Status.CurrentRevision {
			return true
		}
		for _, pod := range f.Pods {
			if f.mine(pod) && pod.Labels["controller-revision-hash"] == revision.Name {
				return true
			}
		}
	}
	return false
}

// isOfTheTemplate reports whether a revision records the present template.
func (f evidence) isOfTheTemplate(revision *appsv1.ControllerRevision) bool {
	recorded, err := identity.Recorded(revision.Data.Raw)
	return err == nil && templateText(recorded.Template) == templateText(&f.Set.Spec.Template) &&
		apiequality.Semantic.DeepEqual(recorded.Identity, f.Set.Spec.Identity)
}

// revisionsStay: the status names the revisions that it has named.
func (j *judged) revisionsStay(rule string) {
	before, now := j.Set.Status, j.plan.Status
	if before.CurrentRevision != now.CurrentRevision || before.UpdateRevision != now.UpdateRevision ||
		(before.CollisionCount == nil) != (now.CollisionCount == nil) {
		j.broke(rule, "the status named the revisions %s and %s, and names %s and %s now", before.CurrentRevision, before.UpdateRevision,
			now.CurrentRevision, now.UpdateRevision)
	}
}

// undecided reports whether it is not known, or not asked, which revisions are the
// set's. A set that is being deleted says that it is, and not that it waits: its status
// keeps the revisions that it names all the same, because under which name its template
// is recorded is known only when the owner of those is gone.
func (j *judged) undecided() bool {
	return j.held() || j.awaits() || j.says(v1.StatefulSetReady).Reason == v1.ReasonWaitingForRevisions
}
