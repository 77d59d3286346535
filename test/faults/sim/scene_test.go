// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package sim

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	v1 "statefulset.dev/api/apps/v1"
	"statefulset.dev/test/faults/internal/scenarios"
	"statefulset.dev/test/faults/sim/model"
)

// scene is what there is at one moment, for the one who looks.
type scene struct {
	// set is nil if there is none.
	set       *v1.StatefulSet
	pods      map[string]*corev1.Pod
	claims    map[string]*corev1.PersistentVolumeClaim
	revisions map[string]*appsv1.ControllerRevision
	// objects are those that templates describe, and what has their names.
	objects map[string]*corev1.ConfigMap
}

func (s *scene) add(resource schema.GroupVersionResource, objects map[string]model.Object) {
	switch resource {
	case model.Sets:
		if set, ok := objects[scenarios.Name].(*v1.StatefulSet); ok {
			s.set = set
		}
	case model.Pods:
		s.pods = typed[*corev1.Pod](objects)
	case model.Claims:
		s.claims = typed[*corev1.PersistentVolumeClaim](objects)
	case model.Revisions:
		s.revisions = typed[*appsv1.ControllerRevision](objects)
	case model.ConfigMaps:
		s.objects = typed[*corev1.ConfigMap](objects)
	}
}

func typed[T any](objects map[string]model.Object) map[string]T {
	all := map[string]T{}
	for name, object := range objects {
		if t, ok := object.(T); ok {
			all[name] = t
		}
	}
	return all
}

// present is the scene as it truly is.
func (w *world) present() scene {
	s := scene{}
	for _, resource := range watched {
		all := map[string]model.Object{}
		for _, object := range w.server(resource).List(resource, namespace) {
			all[object.GetName()] = object
		}
		s.add(resource, all)
	}
	return s
}

func podName(ordinal int) string { return fmt.Sprintf("%s-%d", scenarios.Name, ordinal) }

// ordinalOf is the ordinal that a name ends with, -1 if it does not.
func ordinalOf(name string) int {
	n, err := strconv.Atoi(name[strings.LastIndexByte(name, '-')+1:])
	if err != nil {
		return -1
	}
	return n
}

func isWanted(set *v1.StatefulSet, ordinal int) bool {
	return slices.Contains(scenarios.Wanted(set), ordinal)
}

// reached reports whether an update may change a wanted member.
func reached(set *v1.StatefulSet, ordinal int) bool {
	return scenarios.IsReached(set, ordinal)
}

// replacedOutOfTurn reports whether the status says that a member is being replaced, which
// is not ready, so that the order of members does not hold for it.
func (s scene) replacedOutOfTurn(ordinal int) bool {
	rollout := s.set.Status.Rollout
	if rollout == nil || rollout.Unblocking == nil || int(*rollout.Unblocking) != ordinal {
		return false
	}
	pod := s.pods[podName(ordinal)]
	if pod == nil {
		return true
	}
	_, is := ready(pod)
	return !is
}

func maxUnavailable(set *v1.StatefulSet) int {
	if rolling := set.Spec.UpdateStrategy.RollingUpdate; rolling != nil && rolling.MaxUnavailable != nil {
		return rolling.MaxUnavailable.IntValue()
	}
	return 1
}

func isOrdered(set *v1.StatefulSet) bool {
	return set.Spec.PodManagementPolicy == v1.OrderedReadyPodManagement
}

func owned(object metav1.Object, set *v1.StatefulSet) bool {
	controller := metav1.GetControllerOf(object)
	return controller != nil && controller.UID == set.UID
}

func finished(pod *corev1.Pod) bool {
	return pod.Status.Phase == corev1.PodFailed || pod.Status.Phase == corev1.PodSucceeded
}

func outdated(pod *corev1.Pod, set *v1.StatefulSet) bool {
	return imageOf(pod.Spec) != imageOf(set.Spec.Template.Spec) || scenarios.IsOtherwise(set, pod)
}

func imageOf(spec corev1.PodSpec) string { return spec.Containers[0].Image }

// ready reports whether the pod is ready, and since when.
func ready(pod *corev1.Pod) (time.Time, bool) {
	for _, condition := range pod.Status.Conditions {
		if condition.Type == corev1.PodReady && condition.Status == corev1.ConditionTrue {
			return condition.LastTransitionTime.Time, pod.Status.Phase == corev1.PodRunning
		}
	}
	return time.Time{}, false
}

// available reports whether the member of an ordinal serves at a time, and is to stay.
func (s scene) available(ordinal int, now time.Time) bool {
	pod := s.pods[podName(ordinal)]
	if pod == nil || pod.DeletionTimestamp != nil || restarting(pod) || !owned(pod, s.set) {
		return false
	}
	since, ok := ready(pod)
	return ok && (s.set.Spec.MinReadySeconds == 0 || now.Sub(since) >= time.Duration(s.set.Spec.MinReadySeconds)*time.Second)
}
