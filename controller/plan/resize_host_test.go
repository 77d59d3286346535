// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "statefulset.dev/api/apps/v1"
	"statefulset.dev/controller/plan/action"
)

// resourceSetting changes what a container requests of the cpu, or is limited to of the memory,
// or whether the host resizes pods at all, and reports false if it knows no such setting.
func (h *host) resourceSetting(key, value string) bool {
	resources := &h.set.Spec.Template.Spec.Containers[0].Resources
	switch key {
	case "cpu":
		resources.Requests = nil
		if value != "none" {
			resources.Requests = corev1.ResourceList{corev1.ResourceCPU: resource.MustParse(value)}
		}
	case "memory":
		resources.Limits = nil
		if value != "none" {
			resources.Limits = corev1.ResourceList{corev1.ResourceMemory: resource.MustParse(value)}
		}
	case "restartsFor": // other memory, say, needs a restart
		h.set.Spec.Template.Spec.Containers[0].ResizePolicy = []corev1.ContainerResizePolicy{
			{ResourceName: corev1.ResourceName(value), RestartPolicy: corev1.RestartContainer}}
	case "reads": // the variable MODE has the request for its value
		h.set.Spec.Template.Spec.Containers[0].Env = []corev1.EnvVar{
			{Name: "MODE", ValueFrom: &corev1.EnvVarSource{ResourceFieldRef: &corev1.ResourceFieldSelector{Resource: value}}}}
	case "resizes":
		h.fixed = value == "no"
	default:
		return false
	}
	return true
}

// resizeCommand carries out the commands by which a node sees to a pod whose resources have
// changed, and reports false if it knows no such command: "resized web-0" gives its container
// what it is to have, "defer web-0" says that there is no room for it now, and "cramp web-0" that
// there never will be; "cramp" alone says so of a resize to come.
func (s *stage) resizeCommand(name string, args []string) bool {
	switch name {
	case "resized":
		s.each(args, s.resized)
	case "defer":
		s.each(args, func(pod string) { s.putOffResize(pod, corev1.PodReasonDeferred) })
	case "cramp":
		s.cramps += boolToInt(len(args) == 0)
		s.each(args, func(pod string) { s.putOffResize(pod, corev1.PodReasonInfeasible) })
	default:
		return false
	}
	return true
}

// resized gives the container of a pod what it is to have.
func (h *host) resized(name string) {
	h.changePod(name, func(pod *corev1.Pod) {
		pod.Status.ObservedGeneration = pod.Generation
		pod.Status.ContainerStatuses[0].Resources = pod.Spec.Containers[0].Resources.DeepCopy()
		pod.Status.Conditions = slices.DeleteFunc(pod.Status.Conditions, isOfResize)
	})
}

// resizeOrNot is what a willing node makes of a pod whose container is to have other resources. It
// may have no room where the set can do something about that.
func (s *stage) resizeOrNot(name string) string {
	rolls := s.set.Spec.UpdateStrategy.Type == v1.RollingUpdateStatefulSetStrategyType && !s.isOnly() && s.set.Status.Rollout == nil
	if s.cramps == 0 || !rolls || gather(s.world()).isPaused() {
		s.resized(name)
		return "resized " + name
	}
	s.cramps--
	s.putOffResize(name, corev1.PodReasonInfeasible)
	return "cramp " + name
}

func isOfResize(c corev1.PodCondition) bool {
	return c.Type == "PodResizePending" || c.Type == "PodResizeInProgress"
}

// putOffResize says why the container of a pod does not get what it is to have.
func (h *host) putOffResize(name, why string) {
	h.changePod(name, func(pod *corev1.Pod) {
		pod.Status.ObservedGeneration = pod.Generation
		pod.Status.Conditions = append(slices.DeleteFunc(pod.Status.Conditions, isOfResize),
			corev1.PodCondition{Type: "PodResizePending", Status: corev1.ConditionTrue,
				Reason: why, Message: "the node is full", ObservedGeneration: pod.Generation, LastTransitionTime: metav1.Time{Time: h.now}})
	})
}

// resizable reports whether a node is to resize the container of a pod, and can.
func (s *stage) resizable(name string) bool {
	pod := s.pods[name]
	if pod.DeletionTimestamp != nil || pod.Status.Phase != corev1.PodRunning || len(pod.Status.ContainerStatuses) == 0 ||
		pod.Status.ContainerStatuses[0].ContainerID == "" {
		return false
	}
	put := slices.IndexFunc(pod.Status.Conditions, isOfResize)
	if put < 0 {
		return !hasResources(pod)
	}
	c := pod.Status.Conditions[put]
	return c.Reason != corev1.PodReasonInfeasible || c.ObservedGeneration < pod.Generation
}

// hasResources reports whether the container of a pod has what it is to have.
func hasResources(pod *corev1.Pod) bool {
	has := pod.Status.ContainerStatuses[0].Resources
	return has != nil && resourcesText(has) == resourcesText(&pod.Spec.Containers[0].Resources)
}

// resourcesText are the resources that may be different in templates, empty if there are none.
func resourcesText(resources *corev1.ResourceRequirements) (text string) {
	if cpu, has := resources.Requests[corev1.ResourceCPU]; has {
		text += " and cpu " + cpu.String()
	}
	if memory, has := resources.Limits[corev1.ResourceMemory]; has {
		text += fmt.Sprintf(" and memory %s", memory.String())
	}
	return text
}

// insteadOf is what is carried out if the host finds an action invalid, nil if nothing is.
func insteadOf(act action.Action) *action.DeletePod {
	switch a := act.(type) {
	case action.UpdateInPlace:
		return a.Otherwise
	case action.ResizePod:
		return a.Otherwise
	default:
		return nil
	}
}
