// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package migrate

import (
	"fmt"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"

	v1 "statefulset.dev/api/apps/v1"
	"statefulset.dev/identity"
)

// situation is the state of the cluster on which a decision about a move depends.
type situation struct {
	// theirs is the apps/v1 set, and ours the set of our group with the same name, or nil.
	theirs *appsv1.StatefulSet
	ours   *v1.StatefulSet
	// stored is the answer of the server about ours, with fields that this program does not know.
	stored []byte

	pods      []corev1.Pod
	claims    []corev1.PersistentVolumeClaim
	revisions []appsv1.ControllerRevision
}

// owned counts the objects that refer to an owner, by kind.
type owned struct{ pods, claims, revisions int }

func (o owned) any() bool { return o != owned{} }

func (s *situation) ownedBy(uid types.UID) owned {
	return owned{count(s.pods, uid), count(s.claims, uid), count(s.revisions, uid)}
}

func count[T any, P interface {
	*T
	metav1.Object
}](objects []T, uid types.UID) int {
	n := 0
	for i := range objects {
		if refersTo(P(&objects[i]), uid) {
			n++
		}
	}
	return n
}

func refersTo(object metav1.Object, uid types.UID) bool {
	return slices.ContainsFunc(object.GetOwnerReferences(), func(ref metav1.OwnerReference) bool { return ref.UID == uid })
}

// ownedByFormer counts the objects that still refer to a deleted apps/v1 set of this name.
func (s *situation) ownedByFormer() owned {
	var uids []types.UID
	for _, object := range s.objects() {
		for _, ref := range object.GetOwnerReferences() {
			former := ref.APIVersion == appsv1.SchemeGroupVersion.String() && ref.Kind == v1.Kind && ref.Name == s.ours.Name
			if former && (s.theirs == nil || ref.UID != s.theirs.UID) && !slices.Contains(uids, ref.UID) {
				uids = append(uids, ref.UID)
			}
		}
	}
	var sum owned
	for _, uid := range uids {
		more := s.ownedBy(uid)
		sum = owned{sum.pods + more.pods, sum.claims + more.claims, sum.revisions + more.revisions}
	}
	return sum
}

func (s *situation) objects() []metav1.Object {
	var all []metav1.Object
	for i := range s.pods {
		all = append(all, &s.pods[i])
	}
	for i := range s.claims {
		all = append(all, &s.claims[i])
	}
	for i := range s.revisions {
		all = append(all, &s.revisions[i])
	}
	return all
}

// strays returns revisions that were recorded while our set was suspended, and that no pod runs:
// the built-in controller did not recognize the template. If they stayed, they would mislead it
// again.
func (s *situation) strays() []*appsv1.ControllerRevision {
	needed := map[string]bool{s.ours.Status.CurrentRevision: true, s.ours.Status.UpdateRevision: true}
	for i := range s.pods {
		needed[s.pods[i].Labels[identity.RevisionLabel]] = true
	}
	var strays []*appsv1.ControllerRevision
	held := s.ours.Status.Condition(v1.StatefulSetReady)
	for i := range s.revisions {
		revision := &s.revisions[i]
		if !needed[revision.Name] && metav1.GetControllerOfNoCopy(revision) == nil &&
			s.isHoldObserved() && !revision.CreationTimestamp.Before(&held.LastTransitionTime) {
			strays = append(strays, revision)
		}
	}
	return strays
}

// free counts pods and revisions that have no controller.
func (s *situation) free() (pods, revisions int) {
	for i := range s.pods {
		if metav1.GetControllerOfNoCopy(&s.pods[i]) == nil && s.pods[i].DeletionTimestamp == nil {
			pods++
		}
	}
	for i := range s.revisions {
		if metav1.GetControllerOfNoCopy(&s.revisions[i]) == nil {
			revisions++
		}
	}
	return pods, revisions
}

// updating reports whether the set has members of two revisions, so that the revision of a new pod
// matters.
func (s *situation) updating() bool {
	return s.ours.Status.CurrentRevision != s.ours.Status.UpdateRevision
}

// incomplete returns the first desired member of our set whose pod is missing or terminating, empty
// if there is none.
func (s *situation) incomplete() string {
	there := map[string]bool{}
	for i := range s.pods {
		there[s.pods[i].Name] = s.pods[i].DeletionTimestamp == nil
	}
	for ordinal := range identity.OrdinalsOf(s.ours).All() {
		if name := identity.PodName(s.ours.Name, ordinal); !there[name] {
			return name
		}
	}
	return ""
}

// ready counts pods that are ready.
func (s *situation) ready() int {
	n := 0
	for i := range s.pods {
		if identity.IsReady(&s.pods[i]) {
			n++
		}
	}
	return n
}

// isHoldObserved reports whether the status shows that our controller has observed the hold. It
// runs only one sync of a set at a time, so from then on it does nothing for the set.
func (s *situation) isHoldObserved() bool {
	return s.ours.Status.Condition(v1.StatefulSetReady).Reason == v1.ReasonHeld && s.ours.Status.ObservedGeneration == s.ours.Generation
}

// inCharge reports whether the status shows that our controller reconciles the set again.
func (s *situation) inCharge() bool {
	ready := s.ours.Status.Condition(v1.StatefulSetReady)
	return ready.Type != "" && ready.Reason != v1.ReasonHeld && ready.Reason != v1.ReasonPending &&
		s.ours.Status.ObservedGeneration == s.ours.Generation
}

// sameRevisions reports whether both sets name the same revisions in their status.
func (s *situation) sameRevisions() bool {
	a, b := s.theirs.Status, s.ours.Status
	return a.CurrentRevision == b.CurrentRevision && a.UpdateRevision == b.UpdateRevision &&
		ptr.Deref(a.CollisionCount, 0) == ptr.Deref(b.CollisionCount, 0)
}

// deletesClaims reports whether the deletion of the apps/v1 set deletes its claims.
func (s *situation) deletesClaims() bool {
	policy := s.theirs.Spec.PersistentVolumeClaimRetentionPolicy
	return policy != nil && policy.WhenDeleted == appsv1.DeletePersistentVolumeClaimRetentionPolicyType
}

// sameRetention reports whether both sets have the same whenDeleted.
func sameRetention(theirs *appsv1.StatefulSet, ours *v1.StatefulSet) bool {
	a, b := theirs.Spec.PersistentVolumeClaimRetentionPolicy, ours.Spec.PersistentVolumeClaimRetentionPolicy
	return a == nil || b == nil || string(a.WhenDeleted) == string(b.WhenDeleted)
}

// takesClaims reports whether the deletion of the old set would delete its claims.
func (s *situation) takesClaims() bool {
	if s.theirs != nil {
		return s.deletesClaims()
	}
	policy := s.ours.Spec.PersistentVolumeClaimRetentionPolicy
	return policy != nil && policy.WhenDeleted == v1.DeletePersistentVolumeClaimRetentionPolicyType
}

// memberLabels returns the labels of the pod template.
func (s *situation) memberLabels() map[string]string {
	if s.theirs != nil {
		return s.theirs.Spec.Template.Labels
	}
	return s.ours.Spec.Template.Labels
}

// kind returns the API of the set.
func (s *situation) kind() string {
	if s.ours != nil {
		return v1.SchemeGroupVersion.String()
	}
	return appsv1.SchemeGroupVersion.String()
}

// describe returns the state at the beginning of a move.
func (s *situation) describe() string {
	text := fmt.Sprintf("%d pods (%d ready), %d claims, %d revisions", len(s.pods), s.ready(), len(s.claims), len(s.revisions))
	switch {
	case s.theirs != nil && s.ours != nil:
		return "in the middle of a move: " + text
	case s.theirs != nil:
		return fmt.Sprintf("in %s: %s%s", appsv1.SchemeGroupVersion, text,
			underWay(s.theirs.Status.CurrentRevision, s.theirs.Status.UpdateRevision))
	}
	if state, _ := moveStateOf(s.ours); state == arriving || state == leaving {
		return "in the middle of a move: " + text
	}
	return fmt.Sprintf("in %s: %s%s", v1.SchemeGroupVersion, text, underWay(s.ours.Status.CurrentRevision, s.ours.Status.UpdateRevision))
}

func underWay(current, update string) string {
	if current == update {
		return ", at revision " + update
	}
	return fmt.Sprintf(", being updated from revision %s to %s", current, update)
}
