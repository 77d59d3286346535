// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package sim

import (
	"encoding/json"
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"

	v1 "statefulset.dev/api/apps/v1"
	"statefulset.dev/test/faults/sim/model"
)

// note is what the annotation of a pod says of its update in place.
type note struct {
	Since      time.Time                              `json:"since"`
	Containers map[string]string                      `json:"containers"`
	Resources  map[string]corev1.ResourceRequirements `json:"resources"`
}

func readNote(text string) (n note) {
	if json.Unmarshal([]byte(text), &n) != nil {
		return note{}
	}
	return n
}

func restarting(pod *corev1.Pod) bool {
	_, noted := pod.Annotations[v1.InPlaceAnnotation]
	return noted
}

// overdue reports whether a pod should have been changed in place by now, for all that the set says, so that
// it is recreated instead.
func overdue(pod *corev1.Pod, set *v1.StatefulSet, now time.Time) bool {
	deadline := 10 * time.Minute
	if seconds := set.Spec.ProgressDeadlineSeconds; seconds != nil {
		deadline = time.Duration(*seconds) * time.Second
	}
	since := readNote(pod.Annotations[v1.InPlaceAnnotation]).Since
	return restarting(pod) && !since.IsZero() && now.Sub(since) >= deadline
}

// restartedPod is the pod that a patch restarts or resizes containers of, with what it notes; nil if
// the patch is none, or the containers of the pod are being restarted already.
func restartedPod(i *intent) (*corev1.Pod, note) {
	pod, ok := i.target.(*corev1.Pod)
	text, notes := i.patch.Metadata.Annotations[v1.InPlaceAnnotation]
	if i.Verb != "patch" || !ok || !notes || text == nil || restarting(pod) {
		return nil, note{}
	}
	return pod, readNote(*text)
}

// endsWhenRestarted: nothing else tells anybody that the pod is what its revision says.
func endsWhenRestarted(_ *judge, i *intent, _ scene) string {
	pod, ok := i.target.(*corev1.Pod)
	text, notes := i.patch.Metadata.Annotations[v1.InPlaceAnnotation]
	if i.Verb != "patch" || !ok || !notes || text != nil {
		return ""
	}
	n := readNote(pod.Annotations[v1.InPlaceAnnotation])
	for _, c := range pod.Spec.Containers {
		before, restarts := n.Containers[c.Name]
		if now := containerStatus(pod, c.Name); restarts && (now.ContainerID == "" || now.ContainerID == before) {
			return fmt.Sprintf("container %s was %q and is %q", c.Name, before, now.ContainerID)
		}
		noted, resized := n.Resources[c.Name]
		if has := containerStatus(pod, c.Name).Resources; resized &&
			(has == nil || !contains(has.Requests, noted.Requests) || !contains(has.Limits, noted.Limits)) {
			return fmt.Sprintf("container %s is to have %v and has %v", c.Name, noted, has)
		}
	}
	return ""
}

func containerStatus(pod *corev1.Pod, container string) corev1.ContainerStatus {
	at := slices.IndexFunc(pod.Status.ContainerStatuses, func(c corev1.ContainerStatus) bool { return c.Name == container })
	if at < 0 {
		return corev1.ContainerStatus{}
	}
	return pod.Status.ContainerStatuses[at]
}

func contains(has, wanted corev1.ResourceList) bool {
	for name, quantity := range wanted {
		if got, is := has[name]; !is || got.Cmp(quantity) != 0 {
			return false
		}
	}
	return true
}

// resizesAsNoted: if the controller is lost after it, the note is all that tells its successor.
func resizesAsNoted(_ *judge, i *intent, _ scene) string {
	pod, ok := i.target.(*corev1.Pod)
	if !ok || i.Verb != "patch" || i.Subresource != "resize" {
		return ""
	}
	n := readNote(pod.Annotations[v1.InPlaceAnnotation])
	for _, c := range i.patch.Spec.Containers {
		if noted := n.Resources[c.Name]; !equality.Semantic.DeepEqual(c.Resources, noted) {
			return fmt.Sprintf("container %s is given %v, and its pod notes %v", c.Name, c.Resources, noted)
		}
	}
	return ""
}

// drainsFirst: a pod that serves somebody is out of service for as long as its set says before
// containers of it are restarted.
func drainsFirst(_ *judge, i *intent, s scene) string {
	pod, n := restartedPod(i)
	if pod == nil || len(n.Containers) == 0 || s.set == nil || !hasGate(pod) {
		return ""
	}
	rolling := s.set.Spec.UpdateStrategy.RollingUpdate
	if rolling == nil || rolling.InPlace == nil || rolling.InPlace.DrainSeconds == nil {
		return ""
	}
	in, drain := inService(pod), time.Duration(*rolling.InPlace.DrainSeconds)*time.Second
	_, serves := ready(pod)
	switch {
	case in == nil:
		return "the pod does not say whether it is in service"
	case in.Status != corev1.ConditionTrue && i.by.now().Sub(in.LastTransitionTime.Time) < drain:
		return fmt.Sprintf("the pod is out of service since %s, and now it is %s", in.LastTransitionTime.Time, i.by.now())
	case in.Status == corev1.ConditionTrue && serves:
		return "the pod is in service"
	}
	return ""
}

func hasGate(pod *corev1.Pod) bool {
	return slices.ContainsFunc(pod.Spec.ReadinessGates, func(g corev1.PodReadinessGate) bool { return g.ConditionType == v1.PodInService })
}

func inService(pod *corev1.Pod) *corev1.PodCondition {
	at := slices.IndexFunc(pod.Status.Conditions, func(c corev1.PodCondition) bool { return c.Type == v1.PodInService })
	if at < 0 {
		return nil
	}
	return &pod.Status.Conditions[at]
}

// takes reports whether a write takes a pod from service.
func (i *intent) takes() bool {
	pod, _ := restartedPod(i)
	return i.Resource == model.Pods && (i.Verb == "delete" || pod != nil)
}
