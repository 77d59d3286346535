// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package outcome

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "statefulset.dev/api/apps/v1"
)

// Actor is the actor of a change.
type Actor string

const (
	// User is a person or another program that writes on purpose.
	User Actor = "user"
	// Cluster is the host cluster: nodes, the garbage collector, provisioners, time.
	Cluster Actor = "cluster"
	// Controller is the controller of the set, with an up-to-date view of the cluster.
	Controller Actor = "controller"
	// Outdated is the controller with an outdated view.
	Outdated Actor = "controller with an outdated view"
)

// Scene is what can be seen at one moment. The judge keeps it, so neither the maps nor the objects
// may change afterwards.
type Scene struct {
	// Now is the time of the host cluster, not that of a controller.
	Now time.Time
	// Skew is how far the clock of the controller is ahead of Now.
	Skew time.Duration
	// Set is the set, nil after its deletion has ended.
	Set    *v1.StatefulSet
	Pods   map[string]*corev1.Pod
	Claims map[string]*corev1.PersistentVolumeClaim
}

// ordinal returns the ordinal in the name of a member's pod, and false if the name is not one.
func ordinal(set *v1.StatefulSet, pod string) (int, bool) {
	text, is := strings.CutPrefix(pod, set.Name+"-")
	n, err := strconv.Atoi(text)
	return n, is && err == nil && n >= 0 && strconv.Itoa(n) == text
}

// member returns the ordinal of the member to which a claim belongs by its name, and false if there
// is none. The claim template need not exist any more.
func member(set *v1.StatefulSet, claim string) (int, bool) {
	at := strings.LastIndex(claim, "-"+set.Name+"-")
	if at <= 0 {
		return 0, false
	}
	return ordinal(set, claim[at+1:])
}

// claimTemplate returns the name of the template of a claim, according to the name of the claim.
func claimTemplate(set *v1.StatefulSet, claim string) string {
	return claim[:max(strings.LastIndex(claim, "-"+set.Name+"-"), 0)]
}

// hasTemplate reports whether a set has a claim template with a name.
func hasTemplate(set *v1.StatefulSet, name string) bool {
	return slices.ContainsFunc(set.Spec.VolumeClaimTemplates, func(t corev1.PersistentVolumeClaim) bool { return t.Name == name })
}

// desired returns the desired ordinals of a set, in ascending order.
func desired(set *v1.StatefulSet) (ordinals []int) {
	start, reserved := 0, []v1.OrdinalRange(nil)
	if set.Spec.Ordinals != nil {
		start, reserved = int(set.Spec.Ordinals.Start), set.Spec.Ordinals.Reserved
	}
	for n := start; len(ordinals) < replicas(set); n++ {
		if !slices.ContainsFunc(reserved, func(r v1.OrdinalRange) bool { return covers(r, n) }) {
			ordinals = append(ordinals, n)
		}
	}
	return ordinals
}

func covers(r v1.OrdinalRange, ordinal int) bool {
	last := r.First
	if r.Last != nil {
		last = *r.Last
	}
	return ordinal >= int(r.First) && ordinal <= int(last)
}

func replicas(set *v1.StatefulSet) int {
	if set.Spec.Replicas == nil {
		return 1
	}
	return int(*set.Spec.Replicas)
}

// isDesired reports whether a member is desired.
func isDesired(set *v1.StatefulSet, n int) bool { return slices.Contains(desired(set), n) }

// podOf returns the pod of a member that the set controls, nil if it has none.
func (s *Scene) podOf(n int) *corev1.Pod {
	if s.Set == nil {
		return nil
	}
	pod := s.Pods[fmt.Sprintf("%s-%d", s.Set.Name, n)]
	if pod == nil {
		return nil
	}
	if controller := metav1.GetControllerOfNoCopy(pod); controller != nil && controller.UID != s.Set.UID {
		return nil
	}
	return pod
}

// ownsClaim reports whether a pod owns a claim.
func (s *Scene) ownsClaim(pod *corev1.Pod) bool {
	for _, claim := range s.Claims {
		if slices.ContainsFunc(claim.OwnerReferences, func(ref metav1.OwnerReference) bool { return pod != nil && ref.UID == pod.UID }) {
			return true
		}
	}
	return false
}

// isReady reports whether a pod is running and ready.
func isReady(pod *corev1.Pod) bool {
	return pod != nil && pod.Status.Phase == corev1.PodRunning && is(pod, corev1.PodReady)
}

// is reports whether a condition of a pod is True.
func is(pod *corev1.Pod, kind corev1.PodConditionType) bool {
	return slices.ContainsFunc(pod.Status.Conditions,
		func(c corev1.PodCondition) bool { return c.Type == kind && c.Status == corev1.ConditionTrue })
}

// isAvailable reports whether a pod is not terminating and has been ready for its set's
// minReadySeconds.
func (s *Scene) isAvailable(pod *corev1.Pod) bool {
	if !isReady(pod) || pod.DeletionTimestamp != nil {
		return false
	}
	at := slices.IndexFunc(pod.Status.Conditions, func(c corev1.PodCondition) bool { return c.Type == corev1.PodReady })
	since := pod.Status.Conditions[at].LastTransitionTime
	return s.Now.Sub(since.Time) >= time.Duration(s.Set.Spec.MinReadySeconds)*time.Second
}

// condition returns a condition of the set.
func condition(set *v1.StatefulSet, kind v1.StatefulSetConditionType) v1.StatefulSetCondition {
	for _, c := range set.Status.Conditions {
		if c.Type == kind {
			return c
		}
	}
	return v1.StatefulSetCondition{Type: kind, Status: corev1.ConditionUnknown}
}

// mentions reports whether the status of a set names an object, so that its user knows.
func mentions(set *v1.StatefulSet, name string) bool {
	return slices.ContainsFunc(set.Status.Conditions, func(c v1.StatefulSetCondition) bool { return strings.Contains(c.Message, name) })
}
