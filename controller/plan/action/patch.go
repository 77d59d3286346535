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
	// Labels and Annotations are the values to set by key, nil for a key to remove. All other
	// keys stay.
	Labels, Annotations map[string]*string
	// What says in a few words what the patch does, as in "withdraw the request". Event is the
	// reason of the event that reports it, empty if no event does.
	What, Event string
	// Minor is true if nothing depends on the patch: if the cluster refuses it, that is only
	// reported.
	Minor bool
}

// SetPodConditions sets conditions in the status of a pod. Conditions of other types stay.
type SetPodConditions struct {
	Ordinal    int
	Pod        Target
	Conditions []corev1.PodCondition
	// AsBudgetsAllow is that of UpdateInPlace.
	AsBudgetsAllow bool
}

func (a PatchPod) String() string { return a.What + " for pod " + a.Pod.Name }

func (a SetPodConditions) String() string {
	var parts []string
	for _, c := range a.Conditions {
		parts = append(parts, fmt.Sprintf("%s=%s (%s)", c.Type, c.Status, c.Reason))
	}
	return fmt.Sprintf("set condition %s of pod %s%s", strings.Join(parts, ", "), a.Pod.Name, ifBudgetsAllow(a.AsBudgetsAllow))
}

func (PatchPod) action()         {}
func (SetPodConditions) action() {}

// Apply changes a pod as the action says.
func (a PatchPod) Apply(pod *corev1.Pod) {
	pod.Labels, pod.Annotations = patched(pod.Labels, a.Labels), patched(pod.Annotations, a.Annotations)
}

// patched are the values with the changes applied. A nil change removes its key.
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
