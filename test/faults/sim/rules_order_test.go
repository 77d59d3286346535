// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package sim

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/types"

	v1 "statefulset.dev/api/apps/v1"
	"statefulset.dev/test/faults/internal/scenarios"
)

func sameStatus(a, b *v1.StatefulSet) bool { return equality.Semantic.DeepEqual(a.Status, b.Status) }

func createsInOrder(_ *judge, i *intent, s scene) string {
	pod := createdPod(i)
	if pod == nil || s.set == nil || !isOrdered(s.set) || s.replacedOutOfTurn(ordinalOf(pod.Name)) {
		return ""
	}
	for _, ordinal := range scenarios.Wanted(s.set) {
		if ordinal < ordinalOf(pod.Name) && !s.available(ordinal, i.by.now()) {
			return fmt.Sprintf("member %d is not available", ordinal)
		}
	}
	return ""
}

// surplusPod is the pod that a delete is about if it is not wanted.
func surplusPod(i *intent, s scene) *corev1.Pod {
	pod, ok := i.target.(*corev1.Pod)
	if i.Verb != "delete" || !ok || s.set == nil || isWanted(s.set, ordinalOf(pod.Name)) {
		return nil
	}
	return pod
}

// updatedPod is the pod that a write takes from service if it is wanted, but not as it is.
func updatedPod(i *intent, s scene) *corev1.Pod {
	pod, ok := i.target.(*corev1.Pod)
	if !i.takes() || !ok || s.set == nil || finished(pod) || !isWanted(s.set, ordinalOf(pod.Name)) {
		return nil
	}
	return pod
}

func removesInOrder(_ *judge, i *intent, s scene) string {
	pod := surplusPod(i, s)
	if pod == nil || !isOrdered(s.set) {
		return ""
	}
	for name, other := range s.pods {
		if owned(other, s.set) && !isWanted(s.set, ordinalOf(name)) && ordinalOf(name) > ordinalOf(pod.Name) {
			return fmt.Sprintf("pod %s is left", name)
		}
	}
	return ""
}

func removesInPeace(_ *judge, i *intent, s scene) string {
	if surplusPod(i, s) == nil && updatedPod(i, s) == nil || !isOrdered(s.set) || s.replacedOutOfTurn(ordinalOf(i.Name)) {
		return ""
	}
	for _, ordinal := range scenarios.Wanted(s.set) {
		if podName(ordinal) != i.Name && !s.available(ordinal, i.by.now()) {
			return fmt.Sprintf("member %d is not available", ordinal)
		}
	}
	return ""
}

// updatesInOrder allows those that are told to go in the same breath, and those that
// serve nobody as they are.
func updatesInOrder(_ *judge, i *intent, s scene) string {
	pod := updatedPod(i, s)
	if pod == nil || !s.available(ordinalOf(pod.Name), i.by.now()) {
		return ""
	}
	for _, ordinal := range scenarios.Wanted(s.set) {
		higher := s.pods[podName(ordinal)]
		if ordinal > ordinalOf(pod.Name) && higher != nil && outdated(higher, s.set) && higher.DeletionTimestamp == nil &&
			!i.by.view.removing[higher.UID] {
			return fmt.Sprintf("pod %s is outdated too", higher.Name)
		}
	}
	return ""
}

func updatesWithinBudget(_ *judge, i *intent, s scene) string {
	pod := updatedPod(i, s)
	if pod == nil || !s.available(ordinalOf(pod.Name), i.by.now()) {
		return ""
	}
	missing := 1
	for _, ordinal := range scenarios.Wanted(s.set) {
		other := s.pods[podName(ordinal)]
		if podName(ordinal) != pod.Name && (!s.available(ordinal, i.by.now()) || i.by.view.removing[other.UID]) {
			missing++
		}
	}
	if most := maxUnavailable(s.set); missing > most {
		return fmt.Sprintf("%d members are not available then, and %d may be", missing, most)
	}
	return ""
}

// takenDown notes that a controller has taken a member from service for an update.
// Whoever did it, there may not be more than the set allows. Those taken for another
// generation do not count: a controller that has not heard of the last change goes
// by the one before, and nothing but a lease keeps two from doing so at once.
func (j *judge) takenDown(c *call) {
	pod := updatedPod(j.read(c), scene{set: c.known})
	if pod == nil {
		return
	}
	if _, ok := ready(pod); !ok || restarting(pod) {
		return
	}
	j.down[ordinalOf(pod.Name)] = c.known.Generation
	var down []int
	for ordinal, generation := range j.down {
		if generation == c.known.Generation {
			down = append(down, ordinal)
		}
	}
	if most := maxUnavailable(c.known); len(down) > most {
		j.broke("controllers together take away no more members than maxUnavailable",
			"%s removes pod %s: the members %v are down, and %d may be", c.by.name, pod.Name, down, most)
	}
}

// backUp notes that a member serves again, or is not missed any more.
func (j *judge) backUp(pod *corev1.Pod, gone bool) {
	set := j.latest()
	if _, ok := ready(pod); ok && !gone && pod.DeletionTimestamp == nil && !restarting(pod) || set == nil ||
		!isWanted(set, ordinalOf(pod.Name)) {
		delete(j.down, ordinalOf(pod.Name))
	}
}

// latest is the set as it is, or was when it went.
func (j *judge) latest() *v1.StatefulSet {
	if len(j.sets) == 0 {
		return nil
	}
	return j.sets[len(j.sets)-1]
}

// processes judges what runs on the nodes: this, in the end, is what must never be
// doubled.
func (j *judge) processes(pod *corev1.Pod, running []types.UID) {
	if len(running) > 1 {
		j.broke("no member runs twice", "the processes of the pods %v of name %s run at the same time", running, pod.Name)
	}
}
