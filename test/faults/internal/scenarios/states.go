// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package scenarios

import (
	"fmt"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "statefulset.dev/api/apps/v1"
)

// Observed is the content of the namespace of a scenario.
type Observed struct {
	// Set is nil if it does not exist. A set of apps/v1 is converted with Ours.
	Set       *v1.StatefulSet
	Pods      []corev1.Pod
	Claims    []corev1.PersistentVolumeClaim
	Revisions []appsv1.ControllerRevision
	// Objects are the supporting objects: all ConfigMaps.
	Objects []corev1.ConfigMap
	Secrets []corev1.Secret
}

// The states that a user may wait for.
var (
	// Settled waits until the set has the desired state and reports it.
	Settled = Wait{"the set has its desired state", unsettled}
	// Orphaned waits until the set is deleted, and has left everything else behind.
	Orphaned = Wait{"the set is deleted and its pods have no owner", notOrphaned}
	// Empty waits until the set is deleted together with everything that belonged to it.
	Empty = Wait{"everything is deleted", notEmpty}
)

// updated waits until some members are ready and run the template.
func updated(members int) Wait {
	return Wait{fmt.Sprintf("%d members are updated", members), func(o Observed) string {
		if o.Set == nil {
			return "the set does not exist"
		}
		if n := o.readyWith(true); n < members {
			return fmt.Sprintf("%d members are updated", n)
		}
		return ""
	}}
}

// readyWith counts the members that are ready and run the template, or something else.
func (o Observed) readyWith(template bool) (n int) {
	for i := range o.Pods {
		if isReady(&o.Pods[i]) && o.runsTemplate(&o.Pods[i]) == template {
			n++
		}
	}
	return n
}

func unsettled(o Observed) string {
	if o.Set == nil {
		return "the set does not exist"
	}
	wanted := Wanted(o.Set)
	for _, ordinal := range wanted {
		if missing := o.memberMissing(ordinal, ordinal-firstOrdinal(o.Set) >= o.partition()); missing != "" {
			return missing
		}
	}
	if len(o.Pods) != len(wanted) {
		return fmt.Sprintf("%d pods exist, want %d", len(o.Pods), len(wanted))
	}
	if n, most := o.unusedRevisions(), int(*o.Set.Spec.RevisionHistoryLimit); n > most {
		return fmt.Sprintf("%d revisions exist that no pod runs, want at most %d", n, most)
	}
	for i := range o.Claims {
		if o.Claims[i].DeletionTimestamp != nil {
			return fmt.Sprintf("claim %s is terminating", o.Claims[i].Name)
		}
		if o.condemned(&o.Claims[i]) {
			return fmt.Sprintf("claim %s was not deleted with its member", o.Claims[i].Name)
		}
	}
	if missing := o.objectsMissing(); missing != "" {
		return missing
	}
	return o.statusMissing(int32(len(wanted)))
}

func (o Observed) memberMissing(ordinal int, update bool) string {
	name := fmt.Sprintf("%s-%d", Name, ordinal)
	at := slices.IndexFunc(o.Pods, func(pod corev1.Pod) bool { return pod.Name == name })
	if at < 0 {
		return fmt.Sprintf("pod %s does not exist", name)
	}
	pod := &o.Pods[at]
	switch controller := metav1.GetControllerOf(pod); {
	case controller == nil || controller.UID != o.Set.UID:
		return fmt.Sprintf("pod %s does not belong to the set", name)
	case !isReady(pod):
		return fmt.Sprintf("pod %s is not ready", name)
	case update && !o.runsTemplate(pod):
		return fmt.Sprintf("pod %s is not updated", name)
	case update && MountsOtherwise(o.Set, pod):
		return fmt.Sprintf("pod %s does not mount the claims of the templates", name)
	case update && IsOtherwise(o.Set, pod):
		return fmt.Sprintf("pod %s does not have its override or its parameters", name)
	}
	for i := range o.Set.Spec.VolumeClaimTemplates {
		claim := fmt.Sprintf("%s-%s", o.Set.Spec.VolumeClaimTemplates[i].Name, name)
		if !slices.ContainsFunc(o.Claims, func(c corev1.PersistentVolumeClaim) bool { return c.Name == claim }) {
			return fmt.Sprintf("claim %s does not exist", claim)
		}
	}
	return ""
}

func (o Observed) statusMissing(replicas int32) string {
	status := o.Set.Status
	switch {
	case status.ObservedGeneration != o.Set.Generation:
		return fmt.Sprintf("status is from generation %d, want %d", status.ObservedGeneration, o.Set.Generation)
	case status.Replicas != replicas || status.ReadyReplicas != replicas || status.AvailableReplicas != replicas:
		return fmt.Sprintf("status has %d members, %d ready, %d available, want %d",
			status.Replicas, status.ReadyReplicas, status.AvailableReplicas, replicas)
	case o.partition() == 0 && status.CurrentRevision != status.UpdateRevision:
		return fmt.Sprintf("status has current revision %s and update revision %s, want the same", status.CurrentRevision, status.UpdateRevision)
	}
	return ""
}

func notOrphaned(o Observed) string {
	if o.Set != nil {
		return "the set is not deleted"
	}
	for i := range o.Pods {
		if len(o.Pods[i].OwnerReferences) > 0 {
			return fmt.Sprintf("pod %s has an owner", o.Pods[i].Name)
		}
	}
	return ""
}

func notEmpty(o Observed) string {
	if o.Set != nil || len(o.Pods)+len(o.Claims)+len(o.Revisions) > 0 {
		return fmt.Sprintf("the set exists: %t; there are %d pods, %d claims, %d revisions",
			o.Set != nil, len(o.Pods), len(o.Claims), len(o.Revisions))
	}
	return ""
}

// Wanted returns the desired ordinals of a set, in ascending order. It counts from the first one,
// because an oracle must not use the controller's function.
func Wanted(set *v1.StatefulSet) (ordinals []int) {
	var spec v1.StatefulSetOrdinals
	if set.Spec.Ordinals != nil {
		spec = *set.Spec.Ordinals
	}
	for ordinal := spec.Start; len(ordinals) < int(*set.Spec.Replicas); ordinal++ {
		if !slices.ContainsFunc(spec.Reserved, func(r v1.OrdinalRange) bool { return r.First <= ordinal && ordinal <= r.End() }) {
			ordinals = append(ordinals, int(ordinal))
		}
	}
	return ordinals
}

func (o Observed) partition() int {
	if rolling := o.Set.Spec.UpdateStrategy.RollingUpdate; rolling != nil && rolling.Partition != nil {
		return int(*rolling.Partition)
	}
	return 0
}

func (o Observed) runsTemplate(pod *corev1.Pod) bool {
	return pod.Spec.Containers[0].Image == o.Set.Spec.Template.Spec.Containers[0].Image
}

// unusedRevisions counts the revisions that neither the status nor a pod uses.
func (o Observed) unusedRevisions() int {
	used := map[string]bool{o.Set.Status.CurrentRevision: true, o.Set.Status.UpdateRevision: true}
	for i := range o.Pods {
		used[o.Pods[i].Labels[appsv1.ControllerRevisionHashLabelKey]] = true
	}
	n := 0
	for i := range o.Revisions {
		if !used[o.Revisions[i].Name] && !isAnchor(&o.Revisions[i]) {
			n++
		}
	}
	return n
}

// condemned reports whether the claim must be deleted with a pod that no longer exists.
func (o Observed) condemned(claim *corev1.PersistentVolumeClaim) bool {
	return slices.ContainsFunc(claim.OwnerReferences, func(owner metav1.OwnerReference) bool {
		return owner.Kind == "Pod" && !slices.ContainsFunc(o.Pods, func(pod corev1.Pod) bool { return pod.UID == owner.UID })
	})
}

func isReady(pod *corev1.Pod) bool {
	if pod.DeletionTimestamp != nil || pod.Status.Phase != corev1.PodRunning {
		return false
	}
	return slices.ContainsFunc(pod.Status.Conditions, func(condition corev1.PodCondition) bool {
		return condition.Type == corev1.PodReady && condition.Status == corev1.ConditionTrue
	})
}

// firstOrdinal returns the ordinal from which a partition counts.
func firstOrdinal(set *v1.StatefulSet) int {
	if set.Spec.Ordinals == nil {
		return 0
	}
	return int(set.Spec.Ordinals.Start)
}
