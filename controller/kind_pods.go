// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	coreinformers "k8s.io/client-go/informers/core/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"

	v1 "statefulset.dev/api/apps/v1"
	"statefulset.dev/controller/hostread"
	"statefulset.dev/identity"
)

// podsInAPage is how many pods, or claims, are listed at a time.
const podsInAPage = 100

// podsKind selects the pods that have the label of members, whatever controls them. Pods that have
// lost the label are found in another way (unlabeled_pods.go).
func podsKind(host kubernetes.Interface) kind {
	pods := newEndpoint[*corev1.Pod, *corev1.PodList](host.CoreV1().Pods)
	pods.evict = func(ctx context.Context, eviction *policyv1.Eviction) error {
		return host.CoreV1().Pods(eviction.Namespace).EvictV1(ctx, eviction)
	}
	pods.tryEviction = func(ctx context.Context, eviction *policyv1.Eviction) error {
		return tryEviction(ctx, host.CoreV1().RESTClient(), eviction)
	}
	return kind{
		resource: podsResource,
		noun:     "pod",
		newInformer: func() cache.SharedIndexInformer {
			return coreinformers.NewFilteredPodInformer(host, metav1.NamespaceAll, 0, cache.Indexers{},
				hostread.SelectLabel(appsv1.StatefulSetPodNameLabel))
		},
		selector:   appsv1.StatefulSetPodNameLabel,
		page:       podsInAPage,
		trim:       trimmed(trimPod),
		controlled: true,
		indexes: cache.Indexers{
			byMemberOf: hostread.IndexBy(func(pod *corev1.Pod) []string {
				set, _, ok := identity.ParsePodName(pod.Name)
				if !ok {
					return nil
				}
				return []string{hostread.IndexKey(pod, set)}
			}),
		},
		concerns: setsOfPod,
		changed:  differing(podChanged),
		endpoint: pods,
	}
}

// setsOfPod is the set that the pod's name belongs to. A set must know of every pod that uses the
// name of its member.
func setsOfPod(v view, pod metav1.Object) []*v1.StatefulSet {
	name, _, ok := identity.ParsePodName(pod.GetName())
	if !ok {
		return nil
	}
	set, ok := get[*v1.StatefulSet](v, setsResource, pod.GetNamespace(), name)
	if !ok {
		return nil
	}
	return []*v1.StatefulSet{set}
}

func podChanged(before, after *corev1.Pod) bool {
	return !equality.Semantic.DeepEqual(before.Spec, after.Spec) || !equality.Semantic.DeepEqual(before.Status, after.Status) ||
		hostread.MetaChanged(before.ObjectMeta, after.ObjectMeta)
}

func trimPod(_ view, pod *corev1.Pod) any {
	kept := &corev1.Pod{
		ObjectMeta: hostread.TrimMeta(&pod.ObjectMeta),
		Spec: corev1.PodSpec{
			Volumes: claimVolumes(pod.Spec.Volumes), Subdomain: pod.Spec.Subdomain, ReadinessGates: pod.Spec.ReadinessGates},
		Status: corev1.PodStatus{
			Phase:                 pod.Status.Phase,
			Conditions:            trimConditions(pod.Status.Conditions, len(pod.Spec.ReadinessGates) > 0),
			InitContainerStatuses: trimContainerStatuses(pod.Status.InitContainerStatuses),
			ContainerStatuses:     trimContainerStatuses(pod.Status.ContainerStatuses),
			ObservedGeneration:    pod.Status.ObservedGeneration,
		},
	}
	kept.Generation = pod.Generation
	for _, key := range []string{v1.ClaimTemplatesAnnotation, v1.OverrideAnnotation, v1.InPlaceAnnotation, v1.DisruptionAnnotation,
		v1.DisruptionCountAnnotation, v1.ReplicasAnnotation, v1.GeneratedAnnotation} {
		if made, noted := pod.Annotations[key]; noted {
			if kept.Annotations == nil {
				kept.Annotations = map[string]string{}
			}
			kept.Annotations[key] = made
		}
	}
	if _, restarts := kept.Annotations[v1.InPlaceAnnotation]; restarts {
		keepInPlace(kept, pod)
	}
	// The status explains what keeps a terminating pod from ending.
	if pod.DeletionTimestamp != nil {
		kept.Finalizers, kept.Spec.NodeName = pod.Finalizers, pod.Spec.NodeName
	}
	if pod.Status.Phase == corev1.PodUnknown {
		kept.Status.Reason, kept.Spec.NodeName = pod.Status.Reason, pod.Spec.NodeName
	}
	return kept
}

func claimVolumes(volumes []corev1.Volume) []corev1.Volume {
	var kept []corev1.Volume
	for _, volume := range volumes {
		if volume.PersistentVolumeClaim != nil {
			kept = append(kept, volume)
		}
	}
	return kept
}

// trimConditions keeps the conditions that say whether a pod is ready, and why it has no node, and
// those with a domain, which gates use. If a pod has readiness gates, it keeps ContainersReady if
// that is False. The time of the last probe carries no information, and the planner does not read
// the message of a condition with a domain.
func trimConditions(conditions []corev1.PodCondition, gated bool) []corev1.PodCondition {
	var kept []corev1.PodCondition
	for _, condition := range conditions {
		switch {
		case strings.Contains(string(condition.Type), "/"):
			condition.Message = ""
		case condition.Type == corev1.PodReady:
		case condition.Type == corev1.PodScheduled && condition.Status == corev1.ConditionFalse:
		case condition.Type == corev1.ContainersReady && condition.Status == corev1.ConditionFalse && gated:
		default:
			continue
		}
		condition.LastProbeTime = metav1.Time{}
		kept = append(kept, condition)
	}
	return kept
}

// trimContainerStatuses keeps the containers that have not completed successfully. Their IDs
// distinguish a restarted container from the one before. It also keeps why a container is waiting
// or has failed. It drops messages: they count seconds, and each would be a change.
func trimContainerStatuses(statuses []corev1.ContainerStatus) []corev1.ContainerStatus {
	var kept []corev1.ContainerStatus
	for i := range statuses {
		status := &statuses[i]
		short := corev1.ContainerStatus{Name: status.Name,
			State:                corev1.ContainerState{Terminated: shortEnd(status.State.Terminated)},
			LastTerminationState: corev1.ContainerState{Terminated: shortEnd(status.LastTerminationState.Terminated)}}
		if waiting := status.State.Waiting; waiting != nil {
			short.State.Waiting = &corev1.ContainerStateWaiting{Reason: waiting.Reason}
		}
		if ended := status.State.Terminated; ended == nil || ended.ExitCode != 0 {
			short.ContainerID = status.ContainerID
		}
		if short.ContainerID != "" || short.State.Waiting != nil || short.State.Terminated != nil ||
			short.LastTerminationState.Terminated != nil {
			kept = append(kept, short)
		}
	}
	return kept
}

// keepInPlace keeps, of a pod that is updated in place, what shows the progress of its node: when
// containers were started, their desired and actual resources, and the conditions of a resize.
func keepInPlace(kept, pod *corev1.Pod) {
	kept.Status.InitContainerStatuses = keepStarts(kept.Status.InitContainerStatuses, pod.Status.InitContainerStatuses)
	kept.Status.ContainerStatuses = keepStarts(kept.Status.ContainerStatuses, pod.Status.ContainerStatuses)
	kept.Spec.InitContainers, kept.Spec.Containers = onlyResources(pod.Spec.InitContainers), onlyResources(pod.Spec.Containers)
	kept.Spec.TerminationGracePeriodSeconds, kept.Spec.NodeName = pod.Spec.TerminationGracePeriodSeconds, pod.Spec.NodeName
	for _, condition := range pod.Status.Conditions {
		if condition.Type == corev1.PodResizePending || condition.Type == corev1.PodResizeInProgress {
			condition.LastProbeTime = metav1.Time{}
			kept.Status.Conditions = append(kept.Status.Conditions, condition)
		}
	}
}

// keepStarts keeps when containers were started, and their actual resources.
func keepStarts(kept, statuses []corev1.ContainerStatus) []corev1.ContainerStatus {
	for i := range statuses {
		at := slices.IndexFunc(kept, func(c corev1.ContainerStatus) bool { return c.Name == statuses[i].Name })
		if at < 0 && statuses[i].Resources != nil {
			at = len(kept)
			kept = append(kept, corev1.ContainerStatus{Name: statuses[i].Name})
		}
		if at >= 0 {
			kept[at].State.Running, kept[at].Resources = statuses[i].State.Running, statuses[i].Resources
		}
	}
	return kept
}

// onlyResources are containers with only their resources.
func onlyResources(containers []corev1.Container) (kept []corev1.Container) {
	for i := range containers {
		kept = append(kept, corev1.Container{Name: containers[i].Name, Resources: containers[i].Resources})
	}
	return kept
}

func shortEnd(ended *corev1.ContainerStateTerminated) *corev1.ContainerStateTerminated {
	if ended == nil || ended.ExitCode == 0 {
		return nil
	}
	return &corev1.ContainerStateTerminated{ExitCode: ended.ExitCode, Reason: ended.Reason}
}
