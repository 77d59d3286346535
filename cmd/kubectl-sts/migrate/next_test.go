// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package migrate

import (
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	v1 "statefulset.dev/api/apps/v1"
)

const (
	theirUID types.UID = "theirs"
	ourUID   types.UID = "ours"
)

// theirSet is a set of apps/v1 whose controller has seen it.
func theirSet(change ...func(*appsv1.StatefulSet)) *appsv1.StatefulSet {
	set := &appsv1.StatefulSet{ObjectMeta: metav1.ObjectMeta{Name: "web", Namespace: "shop", UID: theirUID, Generation: 1}}
	set.Spec = appsv1.StatefulSetSpec{Replicas: new(int32(2)), ServiceName: "web"}
	set.Status = appsv1.StatefulSetStatus{ObservedGeneration: 1, CurrentRevision: "web-a", UpdateRevision: "web-b"}
	for _, f := range change {
		f(set)
	}
	return set
}

// ourSet is one of ours whose controller has seen it, with the hold that why tells.
func ourSet(why string, change ...func(*v1.StatefulSet)) *v1.StatefulSet {
	set := &v1.StatefulSet{ObjectMeta: metav1.ObjectMeta{Name: "web", Namespace: "shop", UID: ourUID, Generation: 1}}
	set.Spec = v1.StatefulSetSpec{Replicas: new(int32(2)), ServiceName: "web"}
	set.Status = v1.StatefulSetStatus{ObservedGeneration: 1, CurrentRevision: "web-a", UpdateRevision: "web-b"}
	reason := v1.ReasonMembersAvailable
	if why != "" {
		set.Annotations, reason = map[string]string{v1.HoldAnnotation: why}, v1.ReasonHeld
	}
	set.Status.Conditions = []v1.StatefulSetCondition{{Type: v1.StatefulSetReady, Reason: reason, LastTransitionTime: metav1.Unix(1000, 0)}}
	for _, f := range change {
		f(set)
	}
	return set
}

// pod is a member of the set that has that UID, or of none if it is empty.
func pod(name string, owner types.UID) corev1.Pod {
	return corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: name, OwnerReferences: owners(owner)}}
}

func revision(name string, owner types.UID, created time.Time) appsv1.ControllerRevision {
	return appsv1.ControllerRevision{
		ObjectMeta: metav1.ObjectMeta{Name: name, OwnerReferences: owners(owner), CreationTimestamp: metav1.NewTime(created)}}
}

func claim(name string, owner types.UID) corev1.PersistentVolumeClaim {
	return corev1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{Name: name, OwnerReferences: owners(owner)}}
}

func owners(uid types.UID) []metav1.OwnerReference {
	switch uid {
	case "":
		return nil
	case ourUID:
		return []metav1.OwnerReference{*metav1.NewControllerRef(ourSet(""), v1.GroupVersionKind())}
	default:
		ref := *metav1.NewControllerRef(theirSet(), appsv1.SchemeGroupVersion.WithKind("StatefulSet"))
		ref.UID = uid
		return []metav1.OwnerReference{ref}
	}
}

func members(owner types.UID) []corev1.Pod {
	return []corev1.Pod{pod("web-0", owner), pod("web-1", owner)}
}

func terminating(object metav1.Object) {
	now := metav1.Unix(2000, 0)
	object.SetDeletionTimestamp(&now)
}

func TestNextStep(t *testing.T) {
	arriving := arrivingFrom(theirUID)
	unseen := func(set *v1.StatefulSet) { set.Status.Conditions = nil }
	gone := func(set *appsv1.StatefulSet) { terminating(set) }
	going := func(set *v1.StatefulSet) { terminating(set) }
	before, after := time.Unix(900, 0), time.Unix(1000, 0)
	for sentence, test := range map[string]struct {
		route route
		seen  situation
		want  step
		err   string
	}{
		"there is no set":                 {forth, situation{}, done, "no such set exists"},
		"a set that nothing was done for": {forth, situation{theirs: theirSet()}, createOurs, ""},
		"a set that is being deleted":     {forth, situation{theirs: theirSet(gone)}, done, "is being deleted"},
		"ours was made from a set deleted since": {
			forth, situation{theirs: theirSet(), ours: ourSet(arrivingFrom("earlier"))}, discardOurs, ""},
		"ours was made from an earlier spec": {forth,
			situation{theirs: theirSet(func(s *appsv1.StatefulSet) { s.Spec.Replicas = new(int32(3)) }), ours: ourSet(arriving)}, discardOurs, ""},
		"our controller has not seen the hold": {forth, situation{theirs: theirSet(), ours: ourSet(arriving, unseen)}, awaitHold, ""},
		"theirs has not been looked at": {
			forth, situation{theirs: theirSet(func(s *appsv1.StatefulSet) { s.Generation = 2 }), ours: ourSet(arriving)}, awaitTheirStatus, ""},
		"the status names other revisions": {forth, situation{
			theirs: theirSet(), ours: ourSet(arriving, func(s *v1.StatefulSet) { s.Status.CurrentRevision = "web-b" })}, copyStatusToOurs, ""},
		"the collision count is another": {
			forth, situation{theirs: theirSet(func(s *appsv1.StatefulSet) { s.Status.CollisionCount = new(int32(1)) }), ours: ourSet(arriving)},
			copyStatusToOurs, ""},
		"claims would be deleted with the set": {
			forth, situation{theirs: theirSet(deleting), ours: ourSet(arriving, retaining)}, keepClaims, ""},
		"a claim still belongs to the set": {forth, situation{
			theirs: theirSet(), ours: ourSet(arriving), claims: []corev1.PersistentVolumeClaim{claim("data-web-0", theirUID)}}, releaseClaims, ""},
		"all is prepared": {
			forth, situation{theirs: theirSet(), ours: ourSet(arriving), pods: members(theirUID)}, deleteTheirs, ""},
		"theirs is being orphaned": {forth, situation{theirs: theirSet(gone), ours: ourSet(arriving)}, awaitTheirEnd, ""},
		"a pod refers to the set that is gone": {
			forth, situation{ours: ourSet(arriving), pods: members(theirUID)}, awaitFreedFromTheirs, ""},
		"everything is free":              {forth, situation{ours: ourSet(arriving), pods: members("")}, endHold, ""},
		"our controller has yet to adopt": {forth, situation{ours: ourSet(""), pods: members("")}, awaitOurs, ""},
		"our controller has adopted":      {forth, situation{ours: ourSet(""), pods: members(ourUID)}, done, ""},
		"a set of ours that nobody moved, as well": {
			forth, situation{theirs: theirSet(), ours: ourSet("")}, done, "a set of this name also exists in apps.statefulset.dev"},
		"forth in the middle of a move back":        {forth, situation{theirs: theirSet(), ours: ourSet(leavingMark)}, done, "--undo"},
		"back: our controller has not seen the set": {back, situation{ours: ourSet("", unseen)}, awaitOurs, ""},
		"back: a member is missing in an update":    {back, situation{ours: ourSet(""), pods: members(ourUID)[:1]}, awaitMembers, ""},
		"back: all members are there":               {back, situation{ours: ourSet(""), pods: members(ourUID)}, beginHold, ""},
		"back: a user suspends the set":             {back, situation{ours: ourSet("repair")}, done, "the set is suspended"},
		"back: a member is lost after the hold":     {back, situation{ours: ourSet(leavingMark), pods: members(ourUID)[:1]}, pauseHold, ""},
		"back: revisions belong to ours": {back, situation{ours: ourSet(leavingMark), pods: members(ourUID),
			revisions: []appsv1.ControllerRevision{revision("web-a", ourUID, before)}}, releaseRevisions, ""},
		"back: revisions are free": {back, situation{ours: ourSet(leavingMark), pods: members(ourUID),
			revisions: []appsv1.ControllerRevision{revision("web-a", "", before)}}, createTheirs, ""},
		"back: revisions are not adopted yet": {back, situation{theirs: theirSet(), ours: ourSet(leavingMark), pods: members(ourUID),
			revisions: []appsv1.ControllerRevision{revision("web-a", "", before)}}, awaitRecognition, ""},
		"back: the template is not recognized": {
			back, situation{theirs: theirSet(func(s *appsv1.StatefulSet) { s.Status.UpdateRevision = "web-x" }), ours: ourSet(leavingMark),
				pods: members(ourUID)}, done, "it would restart every member"},
		"back: the current revision is not known": {
			back, situation{theirs: theirSet(func(s *appsv1.StatefulSet) { s.Status.CurrentRevision = "web-b" }), ours: ourSet(leavingMark),
				pods: members(ourUID)}, copyStatusToTheirs, ""},
		"back: a claim still belongs to ours": {back, situation{
			theirs: theirSet(), ours: ourSet(leavingMark), claims: []corev1.PersistentVolumeClaim{claim("data-web-0", ourUID)}}, releaseClaims, ""},
		"back: all is prepared": {
			back, situation{theirs: theirSet(), ours: ourSet(leavingMark), pods: members(ourUID)}, deleteOurs, ""},
		"back: the set is another one": {back, situation{
			theirs: theirSet(func(s *appsv1.StatefulSet) { s.Spec.ServiceName = "x" }), ours: ourSet(leavingMark)}, done, "has another spec"},
		"back: ours is being orphaned":           {back, situation{theirs: theirSet(), ours: ourSet(leavingMark, going)}, awaitOurEnd, ""},
		"back: pods are not adopted yet":         {back, situation{theirs: theirSet(), pods: members("")}, awaitTheirs, ""},
		"back: all is adopted":                   {back, situation{theirs: theirSet(), pods: members(theirUID)}, done, ""},
		"back, while a move to ours is not over": {back, situation{ours: ourSet(arriving), pods: members("")}, endHold, ""},
		"back: the set is protected": {
			back, situation{ours: ourSet("", protectedOurs), pods: members(ourUID)}, done, protectedOnly},
		"back: the set is protected on the way": {back, situation{theirs: theirSet(), ours: ourSet(leavingMark, protectedOurs),
			pods: members(ourUID)}, done, protectedOnly + "; or undo the move with --undo"},
		"back: protected, in the middle of forth": {
			back, situation{ours: ourSet(arriving, protectedOurs), pods: members("")}, done, protectedOnly},
		"back: protected, but on its way out": {
			back, situation{theirs: theirSet(), ours: ourSet(leavingMark, protectedOurs, going)}, awaitOurEnd, ""},
		"a protected set moves with its protection": {
			forth, situation{theirs: theirSet(protectedTheirs), ours: ourSet(arriving, protectedOurs), pods: members(theirUID)}, deleteTheirs, ""},
		"the protection was not moved along": {
			forth, situation{theirs: theirSet(protectedTheirs), ours: ourSet(arriving), pods: members(theirUID)}, discardOurs, ""},
		"undo: ours is protected as theirs is": {
			undo, situation{theirs: theirSet(protectedTheirs), ours: ourSet(arriving, protectedOurs)}, discardOurs, ""},
		"undo back: ours is protected": {
			undo, situation{theirs: theirSet(), ours: ourSet(leavingMark, protectedOurs)}, deleteTheirs, ""},
		"undo: ours takes over, theirs is there": {undo, situation{theirs: theirSet(), ours: ourSet(arriving)}, discardOurs, ""},
		"undo: the retention was changed": {
			undo, situation{theirs: theirSet(retainingTheirs), ours: ourSet(arriving, deletingOurs)}, restoreClaims, ""},
		"undo: ours is on its way out":          {undo, situation{theirs: theirSet(), ours: ourSet(arriving, going)}, awaitOurEnd, ""},
		"undo back: theirs exists":              {undo, situation{theirs: theirSet(), ours: ourSet(leavingMark)}, deleteTheirs, ""},
		"undo back: theirs is going":            {undo, situation{theirs: theirSet(gone), ours: ourSet(leavingMark)}, awaitTheirEnd, ""},
		"undo back: something refers to theirs": {undo, situation{ours: ourSet(leavingMark), pods: members(theirUID)}, awaitFreedFromTheirs, ""},
		"undo back: a revision was recorded": {
			undo, situation{ours: ourSet(leavingMark), revisions: []appsv1.ControllerRevision{revision("web-x", "", after)}}, dropStrays, ""},
		"undo back: the history is older": {
			undo, situation{ours: ourSet(leavingMark), revisions: []appsv1.ControllerRevision{revision("web-x", "", before)}}, endHold, ""},
		"undo back: present revisions stay": {
			undo, situation{ours: ourSet(leavingMark), revisions: []appsv1.ControllerRevision{revision("web-b", "", after)}}, endHold, ""},
	} {
		t.Run(sentence, func(t *testing.T) {
			got, err := test.route(test.seen)
			if got != test.want || (err == nil) != (test.err == "") || err != nil && !strings.Contains(err.Error(), test.err) {
				t.Errorf("next is %q with error %v, want %q with %q", got, err, test.want, test.err)
			}
		})
	}
}

const protectedOnly = `a move to apps/v1 deletes the set, and set shop/web is protected ("prod"): remove annotation apps.statefulset.dev/protect first`

func protectedOurs(set *v1.StatefulSet) {
	metav1.SetMetaDataAnnotation(&set.ObjectMeta, v1.ProtectAnnotation, "prod")
}
func protectedTheirs(set *appsv1.StatefulSet) {
	metav1.SetMetaDataAnnotation(&set.ObjectMeta, v1.ProtectAnnotation, "prod")
}

func deleting(set *appsv1.StatefulSet) {
	set.Spec.PersistentVolumeClaimRetentionPolicy = &appsv1.StatefulSetPersistentVolumeClaimRetentionPolicy{
		WhenDeleted: "Delete", WhenScaled: "Retain"}
}

func retainingTheirs(set *appsv1.StatefulSet) {
	set.Spec.PersistentVolumeClaimRetentionPolicy = &appsv1.StatefulSetPersistentVolumeClaimRetentionPolicy{
		WhenDeleted: "Retain", WhenScaled: "Retain"}
}

func deletingOurs(set *v1.StatefulSet) {
	set.Spec.PersistentVolumeClaimRetentionPolicy = &v1.StatefulSetPersistentVolumeClaimRetentionPolicy{
		WhenDeleted: "Delete", WhenScaled: "Retain"}
}

func retaining(set *v1.StatefulSet) {
	set.Spec.PersistentVolumeClaimRetentionPolicy = &v1.StatefulSetPersistentVolumeClaimRetentionPolicy{
		WhenDeleted: "Retain", WhenScaled: "Retain"}
}

func TestUndoTurnsRoundOrCompletesFirst(t *testing.T) {
	for sentence, test := range map[string]struct {
		seen situation
		want int
	}{
		"nothing is under way":                    {situation{theirs: theirSet()}, 0},
		"ours was created, theirs is there":       {situation{theirs: theirSet(), ours: ourSet(arrivingFrom(theirUID))}, 1},
		"theirs is gone: complete, and move back": {situation{ours: ourSet(arrivingFrom(theirUID))}, 1},
		"ours is on hold":                         {situation{ours: ourSet(leavingMark)}, 1},
		"ours is going: complete, and move again": {
			situation{theirs: theirSet(), ours: ourSet(leavingMark, func(s *v1.StatefulSet) { terminating(s) })}, 2},
	} {
		t.Run(sentence, func(t *testing.T) {
			routes, err := undoRoutes(test.seen)
			if len(routes) != test.want || (err != nil) != (test.want == 0) {
				t.Errorf("%d routes with error %v, want %d", len(routes), err, test.want)
			}
		})
	}
}
