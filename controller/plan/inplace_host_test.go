// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	v1 "statefulset.dev/api/apps/v1"
)

// templateSetting changes what an update in place is about as a user would, and reports
// false if it knows no such setting.
func (h *host) templateSetting(key, value string) bool {
	template := &h.set.Spec.Template
	switch key {
	case "inPlace":
		before := h.rolling().InPlace
		h.rolling().InPlace = nil
		if value != "none" {
			h.rolling().InPlace = &v1.InPlaceUpdate{Policy: v1.InPlaceUpdatePolicyType(value)}
			if before != nil {
				h.rolling().InPlace.DrainSeconds = before.DrainSeconds
			}
		}
	case "drain":
		if update := h.rolling().InPlace; update != nil {
			update.DrainSeconds = nil
			if value != "none" {
				update.DrainSeconds = new(int32(h.number(value)))
			}
		}
	case "conditions":
		h.mute = value == "no"
	case "label":
		template.Labels["tier"] = value
	case "note":
		template.Annotations = map[string]string{"note": value}
	case "env":
		template.Spec.Containers[0].Env = []corev1.EnvVar{{Name: "MODE", Value: value}}
	case "identity":
		h.set.Spec.Identity = h.identity(value)
	case "args":
		switch value {
		case "none":
			template.Spec.Containers[0].Args = nil
		case "conf":
			template.Spec.Containers[0].Args = []string{"--is=$(IDENTITY)-conf"}
		default:
			template.Spec.Containers[0].Args = []string{"--is=$(" + value + ")"}
		}
	case "objects":
		h.set.Spec.ObjectTemplates = h.objectTemplates(value)
		h.retainObjects()
	case "retention":
		h.keeping = value
		h.retainObjects()
	case "sidecar":
		template.Spec.InitContainers = []corev1.Container{{Name: "proxy", Image: value, RestartPolicy: new(corev1.ContainerRestartPolicyAlways)}}
	default:
		return h.resourceSetting(key, value)
	}
	return true
}

// restartCommand carries out the commands by which a node sees to a pod whose image has
// changed, and reports false if it knows no such command: "restart web-0" runs its container
// anew, if the image can be had, "crashloop web-0" too, and it ends each time; "swap web-0"
// runs it anew so soon that the pod does not cease to be ready; "rerun web-0" runs it anew with
// the image that it had, before the node has seen the change; "observe web-0" says that the
// node has seen the change, "slip web-0" does both at once, and undoes the change before its
// node acts on it; and "garble web-0" says that containers are restarted. "invalid TEXT" makes
// the host refuse actions as invalid.
func (s *stage) restartCommand(name string, args []string) bool {
	switch name {
	case "restart":
		s.each(args, func(pod string) { s.restart(pod, false) })
	case "swap":
		s.each(args, s.swap)
	case "crashloop":
		s.each(args, func(pod string) { s.restart(pod, true) })
	case "observe":
		s.eachPod(args, func(pod *corev1.Pod) { pod.Status.ObservedGeneration = pod.Generation })
	case "rerun":
		s.eachPod(args, func(pod *corev1.Pod) { pod.Status.ContainerStatuses[0].ContainerID = s.newID() })
	case "slip":
		s.each(args, s.slip)
	case "garble":
		s.eachPod(args, func(pod *corev1.Pod) { pod.Annotations = map[string]string{v1.InPlaceAnnotation: "[]"} })
	case "invalid":
		s.refuse[strings.Join(args, " ")] = apierrors.NewInvalid(schema.GroupKind{Kind: "Pod"}, "x", nil)
	default:
		return s.resizeCommand(name, args)
	}
	return true
}

// ready makes the containers of a pod run, ready or not; so is the pod, unless a gate keeps it
// from that.
func (h *host) ready(name string, ready corev1.ConditionStatus) {
	h.changePod(name, func(pod *corev1.Pod) {
		condition := corev1.PodCondition{Type: corev1.PodReady, Status: ready, LastTransitionTime: metav1.Time{Time: h.now}}
		if !h.isOpen(pod) {
			condition.Status = corev1.ConditionFalse
		}
		pod.Status.Phase, pod.Spec.NodeName = corev1.PodRunning, "node-1"
		others := slices.DeleteFunc(slices.Clone(pod.Status.Conditions), func(c corev1.PodCondition) bool {
			return c.Type == corev1.PodReady || c.Type == corev1.ContainersReady
		})
		if len(pod.Spec.ReadinessGates) > 0 {
			others = append([]corev1.PodCondition{{Type: corev1.ContainersReady, Status: ready}}, others...)
		}
		pod.Status.Conditions = append([]corev1.PodCondition{condition}, others...)
		h.run(pod, ready == corev1.ConditionTrue)
	})
}

// run notes the container of a pod that starts.
func (h *host) run(pod *corev1.Pod, ready bool) {
	if len(pod.Status.ContainerStatuses) == 0 {
		pod.Generation = max(pod.Generation, 1)
		pod.Status.ObservedGeneration = pod.Generation
		c := &pod.Spec.Containers[0]
		pod.Status.ContainerStatuses = []corev1.ContainerStatus{
			{Name: c.Name, Image: c.Image, ContainerID: h.newID(), Resources: c.Resources.DeepCopy()}}
	}
	if status := &pod.Status.ContainerStatuses[0]; ready && status.Image != "" {
		status.State = corev1.ContainerState{}
	}
}

func (h *host) newID() string { return fmt.Sprintf("containerd://%d", h.writes) }

// restart is what a node makes of a pod whose image has changed: one that cannot be had
// keeps the container from starting, and the old one has ended before.
func (h *host) restart(name string, crashes bool) {
	h.changePod(name, func(pod *corev1.Pod) {
		pod.Status.ObservedGeneration = pod.Generation
		status, image := &pod.Status.ContainerStatuses[0], pod.Spec.Containers[0].Image
		status.State = corev1.ContainerState{}
		if image != badImage || crashes {
			status.Image, status.ContainerID = image, h.newID()
		} else {
			status.State.Waiting = &corev1.ContainerStateWaiting{Reason: "ImagePullBackOff"}
		}
		if crashes {
			status.State.Waiting = &corev1.ContainerStateWaiting{Reason: "CrashLoopBackOff"}
		}
		others := slices.DeleteFunc(slices.Clone(pod.Status.Conditions), func(c corev1.PodCondition) bool {
			return c.Type == corev1.PodReady || c.Type == corev1.ContainersReady
		})
		unready := []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionFalse, LastTransitionTime: metav1.Time{Time: h.now}}}
		if len(pod.Spec.ReadinessGates) > 0 {
			unready = append(unready, corev1.PodCondition{Type: corev1.ContainersReady, Status: corev1.ConditionFalse})
		}
		pod.Status.Conditions = slices.Concat(unready, others)
	})
}

// swap runs the container of a pod anew between two looks of its node.
func (h *host) swap(name string) {
	before := h.pods[name].Status.Conditions
	h.restart(name, false)
	h.changePod(name, func(pod *corev1.Pod) {
		pod.Status.ContainerStatuses[0].State.Running = &corev1.ContainerStateRunning{StartedAt: metav1.Time{Time: h.now}}
		pod.Status.Conditions = before
	})
}

// slip runs the container of a pod anew by itself, and tells of that together with the change
// of its image, which is then undone: nothing is left to be restarted.
func (s *stage) slip(name string) {
	before := s.pods[name].Status.ContainerStatuses[0].Image
	s.restartCommand("rerun", []string{name})
	s.restartCommand("observe", []string{name})
	s.lookAndTell()
	s.tell([]string{"set", "image=" + before})
	s.lookAndTell()
	if pod := s.pods[name]; pod != nil {
		s.restartCommand("observe", []string{name})
	}
}

// isBehind reports whether the container of a pod is not that of its image yet.
func isBehind(pod *corev1.Pod) bool {
	if pod.Status.Phase != corev1.PodRunning || len(pod.Status.ContainerStatuses) == 0 || pod.Status.ContainerStatuses[0].Image == "" {
		return false
	}
	status, image := pod.Status.ContainerStatuses[0], pod.Spec.Containers[0].Image
	if status.State.Waiting != nil {
		return image != badImage
	}
	return status.Image != image
}

// isOnly reports whether the set lets its members be updated in place only.
func (s *stage) isOnly() bool {
	return gather(s.world()).inPlacePolicy() == v1.OnlyInPlaceUpdatePolicyType
}

// restartable are the pods whose containers a node may run anew.
func (s *stage) restartable(name string) bool {
	pod := s.pods[name]
	return pod.DeletionTimestamp == nil && isBehind(pod) &&
		!slices.Contains([]corev1.PodPhase{corev1.PodFailed, corev1.PodSucceeded}, pod.Status.Phase)
}

// podText is templateText of what a pod has.
func podText(pod *corev1.Pod) string {
	template := &corev1.PodTemplateSpec{Spec: pod.Spec}
	template.Labels = pod.Labels
	for key, value := range pod.Annotations {
		if key == "note" {
			template.Annotations = map[string]string{key: value}
		}
	}
	return templateText(template)
}

// modes are the variables that a template may have; all others are of overrides.
func modes(env []corev1.EnvVar) []corev1.EnvVar {
	return slices.DeleteFunc(slices.Clone(env), func(v corev1.EnvVar) bool { return v.Name != "MODE" })
}

// templateText is what may be different in templates: the image, and nothing else unless
// labels, annotations, variables or sidecars are set.
func templateText(template *corev1.PodTemplateSpec) string {
	text := "image " + template.Spec.Containers[0].Image
	annotations := maps.Clone(template.Annotations)
	maps.DeleteFunc(annotations, func(key, _ string) bool { return isRecord(key) })
	if more := fmt.Sprint(template.Labels["tier"], annotations, modes(template.Spec.Containers[0].Env)); more != " map[] []" {
		text += " and " + more
	}
	text += resourcesText(&template.Spec.Containers[0].Resources)
	if args := template.Spec.Containers[0].Args; len(args) > 0 {
		text += fmt.Sprint(" and args ", args)
	}
	for i := range template.Spec.InitContainers {
		text += " and image " + template.Spec.InitContainers[i].Image
	}
	return text
}

// kept are the pods that only a user may recreate, although their containers are not
// restarted: their set updates nothing by itself.
func (s *stage) kept() (names []string) {
	if s.set.Spec.UpdateStrategy.Type != v1.OnDeleteStatefulSetStrategyType {
		return nil
	}
	f := gather(s.world())
	for _, pod := range s.world().Pods {
		if _, waits := f.vainFor(pod); waits && f.mine(pod) && f.wanted(f.ordinalOf(pod.Name)) && pod.DeletionTimestamp == nil {
			names = append(names, pod.Name)
		}
	}
	slices.Sort(names)
	return names
}
