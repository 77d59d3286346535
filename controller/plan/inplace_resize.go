// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"fmt"
	"maps"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"

	v1 "statefulset.dev/api/apps/v1"
	"statefulset.dev/controller/plan/action"
	"statefulset.dev/controller/plan/words"
	"statefulset.dev/identity"
)

// resizeNext gives containers the cpu and the memory in the record of their pod. It is another
// request than the one that wrote the record, because one request can change either resources or
// anything else. It sets absolute values, so it may be repeated. If the cluster finds it invalid,
// the pod is removed instead, where that is allowed and not too many others are down. It reports
// whether that may happen.
func (f *facts) resizeNext(d *draft, m member, others int) (goes bool) {
	note, resize := noteOf(m.pod), action.ResizePod{Ordinal: m.ordinal, Pod: action.Exact(m.pod)}
	resize.AsBudgetsAllow = note.ResizeRestarts && f.respectsBudgets(m.pod)
	if resize.AsBudgetsAllow && f.waitForBudgets(d, m) {
		return false
	}
	for _, name := range note.unpatched(m.pod) {
		if slices.ContainsFunc(m.pod.Spec.InitContainers, func(c corev1.Container) bool { return c.Name == name }) {
			resize.Sidecars = mergedResources(resize.Sidecars, map[string]corev1.ResourceRequirements{name: note.Resources[name]})
		} else {
			resize.Containers = mergedResources(resize.Containers, map[string]corev1.ResourceRequirements{name: note.Resources[name]})
		}
	}
	if f.affords(m, others) && f.mayRecreate(d, m) && f.ownersAllow(m) {
		removal := f.addressed(m, action.DeletePod{Reason: action.DeleteUnresized})
		resize.Otherwise = &removal
	}
	d.add(resize)
	return resize.Otherwise != nil
}

// mayRecreate reports whether a member whose containers cannot be resized may be recreated.
func (f *facts) mayRecreate(d *draft, m member) bool {
	if f.isRolloutBlocked() || f.inPlacePolicy() == v1.OnlyInPlaceUpdatePolicyType ||
		f.world.Set.Spec.UpdateStrategy.Type == v1.OnDeleteStatefulSetStrategyType {
		return false
	}
	scratch := &draft{reads: d.reads, pods: d.pods, changes: d.changes}
	return returnable(f, scratch, m) && !awaitsClaims(f, scratch, m)
}

// mergedResources are resources of containers, overridden by others, nil if there are none.
func mergedResources(all, others map[string]corev1.ResourceRequirements) map[string]corev1.ResourceRequirements {
	if len(others) == 0 {
		return all
	}
	merged := make(map[string]corev1.ResourceRequirements, len(all)+len(others))
	maps.Copy(merged, all)
	for name, resources := range others {
		merged[name] = identity.MergeResources(merged[name], resources)
	}
	return merged
}

// unpatched are the containers whose spec does not have the recorded resources yet.
func (n inPlaceNote) unpatched(pod *corev1.Pod) []string {
	return n.lacking(pod, func(c *corev1.Container, wanted corev1.ResourceRequirements) bool {
		return !resourcesMatch(&c.Resources, wanted)
	})
}

// lacking are the containers, by name, that lack their recorded resources according to a function.
func (n inPlaceNote) lacking(pod *corev1.Pod, lacks func(c *corev1.Container, wanted corev1.ResourceRequirements) bool) (names []string) {
	if len(n.Resources) == 0 {
		return nil
	}
	for _, containers := range [][]corev1.Container{pod.Spec.InitContainers, pod.Spec.Containers} {
		for i := range containers {
			if wanted, noted := n.Resources[containers[i].Name]; noted && lacks(&containers[i], wanted) {
				names = append(names, containers[i].Name)
			}
		}
	}
	slices.Sort(names)
	return names
}

// awaitsHost reports whether the pod waits only for the cluster to accept a resize. Until then no
// container is restarted for it.
func (n inPlaceNote) awaitsHost(pod *corev1.Pod) bool {
	return len(n.unpatched(pod)) > 0 && len(n.unrestarted(pod)) == 0
}

// resourcesMatch reports whether resources have the desired values. Resources without a desired
// value do not count.
func resourcesMatch(resources *corev1.ResourceRequirements, wanted corev1.ResourceRequirements) bool {
	if resources == nil {
		return false
	}
	for _, lists := range [][2]corev1.ResourceList{{resources.Requests, wanted.Requests}, {resources.Limits, wanted.Limits}} {
		for name, want := range lists[1] {
			if got, has := lists[0][name]; !has || got.Cmp(want) != 0 {
				return false
			}
		}
	}
	return true
}

// unresized are the containers, by name, that may not have the recorded resources yet. The status
// of a pod shows what containers have, and its conditions whether a resize is still open.
func (n inPlaceNote) unresized(pod *corev1.Pod) []string {
	pending := len(resizing(pod)) > 0
	return n.lacking(pod, func(c *corev1.Container, wanted corev1.ResourceRequirements) bool {
		return pending || !resourcesMatch(&c.Resources, wanted) || !resourcesMatch(containerOf(pod, c.Name).Resources, wanted)
	})
}

// isResized reports whether all containers have the recorded resources.
func (n inPlaceNote) isResized(pod *corev1.Pod) bool { return len(n.unresized(pod)) == 0 }

// isBeingResized reports whether the node of a pod has to resize containers, and has yet to do so.
// While the cluster has not accepted the resize, the pod waits for the cluster and not for the
// node.
func (n inPlaceNote) isBeingResized(pod *corev1.Pod) bool {
	return len(n.unpatched(pod)) == 0 && !n.isResized(pod)
}

// isInfeasible reports whether the node of a pod says that it can never resize its containers.
func (n inPlaceNote) isInfeasible(pod *corev1.Pod) bool {
	return n.isBeingResized(pod) && slices.ContainsFunc(resizing(pod), func(c *corev1.PodCondition) bool {
		return c.Reason == corev1.PodReasonInfeasible && (c.ObservedGeneration == 0 || c.ObservedGeneration >= pod.Generation)
	})
}

// resizing are the conditions by which a node reports that it has yet to resize containers.
func resizing(pod *corev1.Pod) (all []*corev1.PodCondition) {
	for _, kind := range []corev1.PodConditionType{corev1.PodResizePending, corev1.PodResizeInProgress} {
		if c := conditionOf(pod, kind); c != nil && c.Status == corev1.ConditionTrue {
			all = append(all, c)
		}
	}
	return all
}

// resizingSince is since when the node of a pod has yet to resize containers, as far as it reports
// that.
func resizingSince(pod *corev1.Pod) (since time.Time) {
	for _, c := range resizing(pod) {
		since = latest(since, c.LastTransitionTime.Time)
	}
	return since
}

func latest(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}

// unresizedText describes which containers should have been resized by now, and what their node
// reports.
func (n inPlaceNote) unresizedText(pod *corev1.Pod) string {
	return fmt.Sprintf("%s not been resized since %s%s", containersText(n.unresized(pod), "has", "have"), words.Timestamp(n.begun()),
		nodeSays(pod))
}

// nodeSays is what the node of a pod reports about a resize that it has yet to do, empty if it
// reports nothing.
func nodeSays(pod *corev1.Pod) string {
	for _, c := range resizing(pod) {
		if c.Reason == "" {
			continue
		}
		if c.Message == "" {
			return "; its node reports " + words.Sanitize(c.Reason)
		}
		return fmt.Sprintf("; its node reports %s: %s", words.Sanitize(c.Reason), words.SanitizeText(c.Message))
	}
	return ""
}
