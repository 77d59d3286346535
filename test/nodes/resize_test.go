//go:build nodes

// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package nodes

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	v1 "statefulset.dev/api/apps/v1"
	"statefulset.dev/test/harness"
)

// sized is a container of the set that is limited in its memory, and restarts for other memory if
// it is told to.
func sized(memory string, restarts bool) func(*v1.StatefulSet) {
	return func(set *v1.StatefulSet) {
		set.Spec.PodManagementPolicy = v1.ParallelPodManagement
		c := &set.Spec.Template.Spec.Containers[0]
		c.Resources = corev1.ResourceRequirements{
			Requests: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("20m"), corev1.ResourceMemory: resource.MustParse("16Mi")},
			Limits:   corev1.ResourceList{corev1.ResourceMemory: resource.MustParse(memory)},
		}
		if restarts {
			c.ResizePolicy = []corev1.ContainerResizePolicy{{ResourceName: corev1.ResourceMemory, RestartPolicy: corev1.RestartContainer}}
		}
	}
}

// withResource is another request or limit, such as "limits/memory", of the container.
func withResource(which, value string) string {
	return fmt.Sprintf(`[{"op":"replace","path":"/spec/template/spec/containers/0/resources/%s","value":%q}]`, which, value)
}

// has wants the pod of before, with so much memory as its limit and cpu as its request, in the
// words of its node, and without a note.
func has(before *corev1.Pod, memory, cpu string) func(*corev1.Pod) error {
	return func(pod *corev1.Pod) error {
		_, noted := pod.Annotations[v1.InPlaceAnnotation]
		if pod.UID != before.UID || noted || len(pod.Status.ContainerStatuses) == 0 || pod.Status.ContainerStatuses[0].Resources == nil {
			return fmt.Errorf("its UID is %s, which was %s, its annotations are %v, and its containers %v", pod.UID, before.UID, pod.Annotations,
				pod.Status.ContainerStatuses)
		}
		if got := pod.Status.ContainerStatuses[0].Resources; got.Limits.Memory().String() != memory || got.Requests.Cpu().String() != cpu {
			return fmt.Errorf("it has %v, want %s of memory and %s of cpu", got, memory, cpu)
		}
		return nil
	}
}

// TestResourcesAreChangedInPlace gives members more memory and more cpu, less of both, an image
// and memory at once, and more cpu than their nodes have.
func TestResourcesAreChangedInPlace(t *testing.T) {
	for _, k := range kinds() {
		if k.name == "built-in" {
			continue
		}
		s := newSet(t, k, 2, sized("64Mi", false))
		s.patch(t, `{"spec":{"updateStrategy":{"rollingUpdate":{"inPlace":{"policy":"Only"}}}}}`)
		before := []*corev1.Pod{s.pod(t, 0), s.pod(t, 1)}

		s.change(t, withResource("limits/memory", "96Mi"))
		s.change(t, withResource("requests/cpu", "30m"))
		s.awaitReady(t, 2)
		for i, old := range before {
			pod := s.awaitPod(t, i, "has more, and its container has run on", has(old, "96Mi", "30m"))
			if other := otherContainer(old)(pod); other == nil {
				t.Errorf("member %d: the container is another one than before: %v, was %v", i, pod.Status.ContainerStatuses,
					old.Status.ContainerStatuses)
			}
		}
		s.change(t, withResource("limits/memory", "72Mi"))
		s.change(t, withResource("requests/cpu", "20m"))
		s.awaitReady(t, 2)
		for i, old := range before {
			s.awaitPod(t, i, "has less", has(old, "72Mi", "20m"))
		}

		s.change(t, withResource("requests/cpu", "500"))
		harness.Eventually(t, "the set says that the node cannot give so much", func(ctx context.Context) error {
			object, err := s.get(ctx)
			if err != nil {
				return err
			}
			conditions, _, _ := unstructured.NestedSlice(object.Object, "status", "conditions")
			if !strings.Contains(fmt.Sprint(conditions), "node didn't have enough allocatable resources: cpu") {
				return fmt.Errorf("the conditions are %v", conditions)
			}
			return nil
		})
		s.change(t, withResource("requests/cpu", "20m"))
		s.awaitReady(t, 2)
		for i, old := range before {
			s.awaitPod(t, i, "has what it had", has(old, "72Mi", "20m"))
		}

		s.patch(t, `{"spec":{"updateStrategy":{"rollingUpdate":{"inPlace":{"policy":"IfPossible"}}}}}`)
		s.change(t, withResource("requests/cpu", "500"))
		pending := s.awaitPod(t, 1, "is another pod, for which there is no node", func(pod *corev1.Pod) error {
			if pod.UID == before[1].UID || pod.Spec.NodeName != "" {
				return fmt.Errorf("its UID is %s, and its node %q; it was %s", pod.UID, pod.Spec.NodeName, before[1].UID)
			}
			return nil
		})
		s.change(t, withResource("requests/cpu", "20m"))
		s.awaitReady(t, 2)
		s.awaitPod(t, 0, "has what it had", has(before[0], "72Mi", "20m"))
		s.awaitPod(t, 1, "starts with less, without being replaced", has(pending, "72Mi", "20m"))
	}
}

// TestAResizeMayRestartAContainer gives members more memory, for which their containers are to be
// restarted.
func TestAResizeMayRestartAContainer(t *testing.T) {
	for _, k := range kinds() {
		if k.name == "built-in" {
			continue
		}
		s := newSet(t, k, 1, sized("64Mi", true))
		s.patch(t, `{"spec":{"updateStrategy":{"rollingUpdate":{"inPlace":{"policy":"Only"}}}}}`)
		before := s.pod(t, 0)
		s.change(t, withResource("limits/memory", "96Mi"))
		s.awaitReady(t, 1)
		s.awaitPod(t, 0, "has more, in another container", func(pod *corev1.Pod) error {
			return errors.Join(has(before, "96Mi", "20m")(pod), otherContainer(before)(pod))
		})
	}
}
