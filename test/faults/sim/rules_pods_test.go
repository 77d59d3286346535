// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package sim

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	v1 "statefulset.dev/api/apps/v1"
	"statefulset.dev/test/faults/internal/scenarios"
	"statefulset.dev/test/faults/sim/model"
)

// decisionRule is about a write and what the replica could know when it sent it.
type decisionRule struct {
	name  string
	wrong func(*judge, *intent, scene) string
}

var decisionRules = []decisionRule{
	{"nothing is done for a set that is gone or going", setStays},
	{"a pod is removed only if it is finished, surplus, outdated or rolled back", removesForAReason},
	{"a pod is created only for a wanted member, as a revision of the set has it", createsMember},
	{"no pod is created while one of its name is left", createsAfterGone},
	{"an ordered set creates a member only when all before it are available", createsInOrder},
	{"an ordered set removes surplus pods one by one from the highest", removesInOrder},
	{"an ordered set takes away none while another is not available", removesInPeace},
	{"an update goes from the highest ordinal down", updatesInOrder},
	{"an update keeps within maxUnavailable", updatesWithinBudget},
	{"a pod is out of service for long enough before its containers are restarted", drainsFirst},
	{"containers are given the resources that their pod notes", resizesAsNoted},
	{"an update in place is over when containers are restarted, and have what they are to have", endsWhenRestarted},
	{"a pod is created only with all its claims, which stay", createsWithClaims},
	{"a pod is created only with all its objects", createsWithObjects},
	{"objects are made and changed as templates describe them, and marked", writesAsDescribed},
	{"an object is dated when its member is gone, and nothing else is noted on it", datesObjects},
	{"an object goes with the set exactly if its template says so", ownsObjects},
	{"an object is deleted only when its template says so", deletesDueObjects},
	{"a claim is deleted only when the set says so", deletesDueClaims},
	{"a claim is owned only as the retention policy says", ownsAsPolicySays},
	{"no revision is removed that a pod or the status needs", keepsRevisions},
	{"nothing is adopted without asking the API for the set first", asksBeforeAdopting},
	{"a status says something new, of what there is", saysNews},
}

// setStays is not about the status, which must not be written for another set either
// but is refused then.
func setStays(_ *judge, i *intent, s scene) string {
	if s.set == nil {
		return "there is no set"
	}
	if s.set.DeletionTimestamp != nil && i.Resource != model.Sets {
		return "the set is being deleted"
	}
	if owner := ownerOf(i); owner != "" && owner != s.set.UID {
		return fmt.Sprintf("the set has UID %s, and not %s", s.set.UID, owner)
	}
	return ""
}

// ownerOf is the set that a new object is for.
func ownerOf(i *intent) types.UID {
	if i.object == nil || i.Verb != "create" {
		return ""
	}
	if name, uid, marked := strings.Cut(i.object.GetAnnotations()[v1.OwnerAnnotation], "/"); i.Resource == model.ConfigMaps && marked &&
		name == scenarios.Name {
		return types.UID(uid)
	}
	for _, owner := range i.object.GetOwnerReferences() {
		if owner.Kind == v1.Kind {
			return owner.UID
		}
	}
	return ""
}

func removesForAReason(_ *judge, i *intent, s scene) string {
	pod, ok := i.target.(*corev1.Pod)
	if i.Verb != "delete" || !ok {
		return ""
	}
	ordinal := ordinalOf(pod.Name)
	switch {
	case s.set == nil:
		return "there is no set"
	case !owned(pod, s.set):
		return fmt.Sprintf("the pod belongs to %v", pod.OwnerReferences)
	case pod.DeletionTimestamp != nil:
		return "the pod is terminating already"
	case finished(pod), !isWanted(s.set, ordinal), scenarios.GoesBack(s.set) && !outdated(pod, s.set), overdue(pod, s.set, i.by.now()):
		return ""
	case !outdated(pod, s.set):
		return fmt.Sprintf("the pod runs %s, as the set wants it", imageOf(pod.Spec))
	case s.set.Spec.UpdateStrategy.Type == v1.OnDeleteStatefulSetStrategyType, !reached(s.set, ordinal):
		return "the pod is not to be updated"
	}
	return ""
}

func createdPod(i *intent) *corev1.Pod {
	pod, ok := i.object.(*corev1.Pod)
	if i.Verb != "create" || !ok {
		return nil
	}
	return pod
}

func createsMember(_ *judge, i *intent, s scene) string {
	pod := createdPod(i)
	if pod == nil || s.set == nil {
		return ""
	}
	ordinal := ordinalOf(pod.Name)
	hash := pod.Labels[appsv1.ControllerRevisionHashLabelKey]
	revision := s.revisions[hash]
	switch {
	case pod.Name != podName(ordinal) || !isWanted(s.set, ordinal):
		return fmt.Sprintf("the set wants the ordinals %v", scenarios.Wanted(s.set))
	case !owned(pod, s.set):
		return fmt.Sprintf("the pod is made for %v", pod.OwnerReferences)
	case pod.Labels[appsv1.StatefulSetPodNameLabel] != pod.Name || pod.Labels["app"] != scenarios.Name:
		return fmt.Sprintf("the pod has the labels %v", pod.Labels)
	case revision == nil:
		return fmt.Sprintf("there is no revision %q", hash)
	case recordedImage(revision) != imageOf(pod.Spec):
		return fmt.Sprintf("the pod has image %s, and revision %s has %s", imageOf(pod.Spec), hash, recordedImage(revision))
	case !outdated(pod, s.set):
		if current := s.revisions[s.set.Status.CurrentRevision]; !reached(s.set, ordinal) && current != nil && hash != current.Name {
			return fmt.Sprintf("the update has not reached it, and it is made at revision %s, not %s", hash, current.Name)
		}
		return ""
	case hash != s.set.Status.CurrentRevision || reached(s.set, ordinal):
		return fmt.Sprintf("the pod is made at revision %s, with image %s; the set has %s", hash, imageOf(pod.Spec),
			imageOf(s.set.Spec.Template.Spec))
	}
	return ""
}

func recordedImage(revision *appsv1.ControllerRevision) string {
	var recorded struct{ Spec appsv1.StatefulSetSpec }
	if err := json.Unmarshal(revision.Data.Raw, &recorded); err != nil || len(recorded.Spec.Template.Spec.Containers) == 0 {
		return "unknown"
	}
	return imageOf(recorded.Spec.Template.Spec)
}

func createsAfterGone(_ *judge, i *intent, s scene) string {
	pod := createdPod(i)
	if pod == nil {
		return ""
	}
	if there := s.pods[pod.Name]; there != nil {
		return fmt.Sprintf("there is one with UID %s, terminating: %t", there.UID, there.DeletionTimestamp != nil)
	}
	return ""
}

func keepsRevisions(_ *judge, i *intent, s scene) string {
	revision, ok := i.target.(*appsv1.ControllerRevision)
	if i.Verb != "delete" || !ok || s.set == nil {
		return ""
	}
	switch {
	case !owned(revision, s.set):
		return fmt.Sprintf("the revision belongs to %v", revision.OwnerReferences)
	case revision.Name == s.set.Status.CurrentRevision || recordedImage(revision) == imageOf(s.set.Spec.Template.Spec):
		return "the set goes by it"
	}
	for name, pod := range s.pods {
		if pod.Labels[appsv1.ControllerRevisionHashLabelKey] == revision.Name {
			return fmt.Sprintf("pod %s runs it", name)
		}
	}
	return ""
}

func asksBeforeAdopting(_ *judge, i *intent, s scene) string {
	if i.Verb != "patch" || s.set == nil || i.Resource == model.Claims {
		return ""
	}
	adopts := slices.ContainsFunc(i.patch.Metadata.OwnerReferences, func(owner ownerPatch) bool {
		return owner.Patch == "" && owner.UID == s.set.UID
	})
	if !adopts {
		return ""
	}
	live := i.by.view.read[written{model.Sets, s.set.Name}]
	if live == nil || live.GetUID() != s.set.UID || live.GetDeletionTimestamp() != nil {
		return fmt.Sprintf("it has not seen the set %s, past all caches, since the decision began", s.set.UID)
	}
	if metav1.GetControllerOf(i.target) != nil {
		return fmt.Sprintf("it is owned by %v", i.target.GetOwnerReferences())
	}
	return ""
}

func saysNews(_ *judge, i *intent, s scene) string {
	set, ok := i.object.(*v1.StatefulSet)
	if !ok || s.set == nil || set.UID != s.set.UID {
		return ""
	}
	if set.Status.ObservedGeneration > s.set.Generation {
		return fmt.Sprintf("it speaks of generation %d, and the set has %d", set.Status.ObservedGeneration, s.set.Generation)
	}
	if marks(set, s.set) {
		return ""
	}
	free := 0
	for _, pod := range s.pods {
		if owned(pod, s.set) || metav1.GetControllerOf(pod) == nil {
			free++
		}
	}
	if int(set.Status.Replicas) > free {
		return fmt.Sprintf("it counts %d members, and only %d pods are not somebody else's", set.Status.Replicas, free)
	}
	if sameStatus(set, s.set) {
		return "it says what is said already"
	}
	return ""
}

// marks reports whether a status only sets the mark of an evaluation, so that the rest of it may be old.
func marks(set, before *v1.StatefulSet) bool {
	same := *before
	same.Status.Evaluation = set.Status.Evaluation
	return set.Status.Evaluation != nil && sameStatus(set, &same) && !sameStatus(set, before)
}
