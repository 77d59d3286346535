// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package action

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
)

// PatchPod changes labels and annotations of a pod.
type PatchPod struct {
	Ordinal int
	Pod     Target
	// Labels and Annotations are what becomes of those of their names, nil of one that is to
	// go. All others stay.
	Labels, Annotations map[string]*string
	// What says in a few words what that does, as in "withdraw the request". Event is the
	// reason of the event that tells of it, empty if none does.
	What, Event string
	// Minor is true if nothing rests on it: that the host refuses it is only told.
	Minor bool
}

// SetPodConditions sets conditions in the status of a pod. Those of other types stay.
type SetPodConditions struct {
	Ordinal    int
	Pod        Target
	Conditions []corev1.PodCondition
	// AsBudgetsAllow is that of UpdateInPlace.
	AsBudgetsAllow bool
}

func (a PatchPod) String() string { return a.What + " of pod " + a.Pod.Name }

func (a SetPodConditions) String() string {
	var parts []string
	for _, c := range a.Conditions {
		parts = append(parts, fmt.Sprintf("%s=%s (%s)", c.Type, c.Status, c.Reason))
	}
	return fmt.Sprintf("set condition %s of pod %s%s", strings.Join(parts, ", "), a.Pod.Name, ifBudgetsAllow(a.AsBudgetsAllow))
}

func (PatchPod) action()         {}
func (SetPodConditions) action() {}

// Apply makes a pod what the action tells it to be.
func (a PatchPod) Apply(pod *corev1.Pod) {
	pod.Labels, pod.Annotations = patched(pod.Labels, a.Labels), patched(pod.Annotations, a.Annotations)
}

// patched are values with others on top, without those that are to go.
func patched(values map[string]string, changes map[string]*string) map[string]string {
	if len(changes) == 0 {
		return values
	}
	all := maps.Clone(values)
	if all == nil {
		all = map[string]string{}
	}
	for key, value := range changes {
		if value == nil {
			delete(all, key)
		} else {
			all[key] = *value
		}
	}
	return all
}

// Apply sets the conditions of a pod.
func (a SetPodConditions) Apply(pod *corev1.Pod) {
	pod.Status.Conditions = slices.Clone(pod.Status.Conditions)
	for _, c := range a.Conditions {
		if at := slices.IndexFunc(pod.Status.Conditions, func(other corev1.PodCondition) bool { return other.Type == c.Type }); at >= 0 {
			pod.Status.Conditions[at] = c
		} else {
			pod.Status.Conditions = append(pod.Status.Conditions, c)
		}
	}
}
