//go:build faults

// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package crash

import (
	"fmt"
	"slices"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"

	v1 "statefulset.dev/api/apps/v1"
	"statefulset.dev/test/faults/internal/scenarios"
)

// outOfTurn finds members of ordered sets that the controller removed while they were not
// ready, because they were outdated, although no status had named them before: whoever took
// over could have chosen another one.
func outOfTurn(j judged) []violation {
	var found []violation
	wasReady := map[string]bool{}
	for _, r := range j.records {
		if r.kind != pods {
			continue
		}
		pod := r.object.(*corev1.Pod)
		if r.verb == deleting && !wasReady[pod.Name] && j.requestedEnd(pod) != nil && j.isUpdated(r.at, pod) && !j.namedBefore(r.at, pod) {
			found = append(found, violation{inTurn,
				fmt.Sprintf("pod %s, UID %s, was not ready at revision %s, and removed at version %d, want it in status.rollout.unblocking before",
					pod.Name, pod.UID, pod.Labels[appsv1.ControllerRevisionHashLabelKey], r.version)})
		}
		wasReady[pod.Name] = isReady(pod)
	}
	return found
}

// isUpdated reports whether there is no other reason to remove a pod than the update of an
// ordered set.
func (j judged) isUpdated(t time.Time, pod *corev1.Pod) bool {
	around := j.setsAround(t)
	return len(around) > 0 && !slices.ContainsFunc(around, func(set *v1.StatefulSet) bool {
		why := reason(set, pod)
		return !owns(set, pod) || set.DeletionTimestamp != nil || set.Spec.PodManagementPolicy != v1.OrderedReadyPodManagement ||
			why != "" && why != "outdated"
	})
}

// namedBefore reports whether a status has said before a time that the member of a pod is
// replaced out of turn, for another revision than the pod's.
func (j judged) namedBefore(t time.Time, pod *corev1.Pod) bool {
	return slices.ContainsFunc(j.records, func(r record) bool {
		if r.kind != sets || r.at.After(t.Add(slack)) {
			return false
		}
		rollout := r.object.(*v1.StatefulSet).Status.Rollout
		return rollout != nil && rollout.Unblocking != nil && int(*rollout.Unblocking) == ordinalOf(pod.Name) &&
			rollout.Revision != pod.Labels[appsv1.ControllerRevisionHashLabelKey]
	})
}

// changesUntil is how often a user has changed what members are to run or mount, or paused
// the update or gone on with it, until the set was as it is given.
func (j judged) changesUntil(set *v1.StatefulSet) int {
	changes, last := 0, ""
	for _, r := range j.records {
		then, ok := r.object.(*v1.StatefulSet)
		if !ok || then.UID != set.UID || then.Generation > set.Generation {
			continue
		}
		asked := fmt.Sprint(imageOf(&then.Spec.Template.Spec), isPaused(then), then.Spec.Overrides)
		for i := range then.Spec.VolumeClaimTemplates {
			asked += " " + then.Spec.VolumeClaimTemplates[i].Name
		}
		if asked != last {
			changes, last = changes+1, asked
		}
	}
	return changes
}

// twice finds members that were removed for an update that had removed them before.
func twice(j judged) []violation {
	var found []violation
	removed := map[string]*corev1.Pod{}
	for _, r := range j.records {
		if r.kind != pods || r.verb != deleting {
			continue
		}
		pod := r.object.(*corev1.Pod)
		if j.requestedEnd(pod) == nil {
			continue
		}
		updates := j.updatesOf(pod, j.setsAround(r.at))
		if len(updates) == 0 {
			continue
		}
		fresh := slices.IndexFunc(updates, func(update string) bool { return removed[update] == nil })
		if fresh < 0 {
			before := removed[updates[0]]
			found = append(found,
				violation{onceEach, fmt.Sprintf("got pod %s removed with UID %s and %s, and again with UID %s and %s, want it removed once",
					updates[0], before.UID, imageOf(&before.Spec), pod.UID, imageOf(&pod.Spec))})
			continue
		}
		removed[updates[fresh]] = pod
	}
	return found
}

// updatesOf are the updates for which a pod may have been removed, by the sets around that time; none if
// there may have been another reason: one that was changed in place is removed if that cannot be completed.
func (j judged) updatesOf(pod *corev1.Pod, around []*v1.StatefulSet) (updates []string) {
	for _, set := range around {
		switch why := reason(set, pod); {
		case why == "condemned", why == "" && isChangedInPlace(pod):
			return nil
		case owns(set, pod) && why == "outdated":
			updates = append(updates,
				fmt.Sprintf("%s for %s, change %d of set %s", pod.Name, imageOf(&set.Spec.Template.Spec), j.changesUntil(set), set.UID))
		}
	}
	return slices.Compact(updates)
}

func isChangedInPlace(pod *corev1.Pod) bool {
	_, is := pod.Annotations[v1.InPlaceAnnotation]
	return is
}

// uncalled finds pods that were created for an ordinal that no set wanted, or with the name
// of a service that no set had.
func uncalled(j judged) []violation {
	var found []violation
	for _, r := range j.records {
		if r.kind != pods || r.verb != created {
			continue
		}
		pod := r.object.(*corev1.Pod)
		around := j.setsAround(r.at)
		called := slices.ContainsFunc(around, func(set *v1.StatefulSet) bool {
			return slices.Contains(scenarios.Wanted(set), ordinalOf(pod.Name)) && set.Spec.ServiceName == pod.Spec.Subdomain
		})
		if !called {
			var want []string
			for _, set := range around {
				want = append(want, fmt.Sprintf("the ordinals %v in service %s", scenarios.Wanted(set), set.Spec.ServiceName))
			}
			found = append(found, violation{calledFor,
				fmt.Sprintf("pod %s in service %s was created at version %d, want one of %v", pod.Name, pod.Spec.Subdomain, r.version, want)})
		}
	}
	return found
}
