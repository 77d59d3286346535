//go:build e2e

// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"context"
	"fmt"
	"maps"
	"os"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "statefulset.dev/api/apps/v1"
	"statefulset.dev/test/harness"
)

// TestLifeOfTheExampleThatIsUpdatedInPlace gives the example another image, a label, and what
// only other pods can have. Containers are restarted by the part of the kubelet that KWOK does
// not play.
func TestLifeOfTheExampleThatIsUpdatedInPlace(t *testing.T) {
	t.Parallel()
	ns := namespace(t)
	content, err := os.ReadFile("../../artifacts/examples/inplace.yaml")
	if err != nil {
		t.Fatalf("reading the example: %v", err)
	}
	kubectlApply(t, string(content), "-n", ns)
	waitReady(t, ns, "db", 3)
	uids := podUIDs(t, ns)

	newer := strings.Replace(string(content), "nginx-slim:0.24", "nginx-slim:0.25", 1)
	_, proposal, _ := strings.Cut(newer, "---\n")
	said, err := planCommand(t, ns, proposal, "-f", "-")
	if want := "update pod db-2 in place (image of db)"; err != nil || !strings.Contains(said, want) {
		t.Errorf("kubectl sts plan says %v, %s, want a line with %q", err, said, want)
	}
	kubectlApply(t, newer, "-n", ns)
	harness.Eventually(t, "the set waits for the container of db-2", func(ctx context.Context) error {
		set, err := suite.Sets.AppsV1().StatefulSets(ns).Get(ctx, "db", metav1.GetOptions{})
		if err != nil {
			return err
		}
		ready, want := conditionOf(set, v1.StatefulSetReady), "db-2: container db is restarting in place"
		if ready == nil || !strings.Contains(ready.Message, want) || set.Status.ReadyReplicas != 3 || set.Status.AvailableReplicas != 2 {
			return fmt.Errorf("%d of %d ready members are available, and Ready is %v, want 2 of 3, and %q", set.Status.AvailableReplicas,
				set.Status.ReadyReplicas, ready, want)
		}
		return nil
	})
	playContainers(t, ns)
	waitReady(t, ns, "db", 3)
	expectInPlace(t, ns, uids, "registry.k8s.io/nginx-slim:0.25", "")
	expectEvent(t, ns, v1.ReasonMemberUpdatedInPlace, `pod "db-0"`)

	kubectl(t, "patch", kind, "db", "-n", ns, "--type=merge", "-p", `{"spec":{"template":{"metadata":{"labels":{"tier":"gold"}}}}}`)
	waitReady(t, ns, "db", 3)
	expectInPlace(t, ns, uids, "registry.k8s.io/nginx-slim:0.25", "gold")

	kubectl(t, "patch", kind, "db", "-n", ns, "--type=json", "-p",
		`[{"op":"replace","path":"/spec/template/spec/containers/0/resources/requests/memory","value":"32Mi"}]`)
	waitReady(t, ns, "db", 3)
	expectInPlace(t, ns, uids, "registry.k8s.io/nginx-slim:0.25", "gold")
	if err := eachPod(t.Context(), ns, func(pod *corev1.Pod) error {
		if got := pod.Spec.Containers[0].Resources.Requests.Memory().String(); got != "32Mi" {
			return fmt.Errorf("pod %s requests %s of memory, want 32Mi", pod.Name, got)
		}
		return nil
	}); err != nil {
		t.Error(err)
	}

	kubectl(t, "patch", kind, "db", "-n", ns, "--type=merge", "-p", `{"spec":{"template":{"spec":{"terminationGracePeriodSeconds":7}}}}`)
	waitReady(t, ns, "db", 3)
	if now := podUIDs(t, ns); now["db-0"] == uids["db-0"] || now["db-2"] == uids["db-2"] {
		t.Errorf("the pods are %v, and were %v, want others", now, uids)
	}
	expectEvent(t, ns, v1.ReasonInPlaceFallback, "spec.terminationGracePeriodSeconds differs")
}

// expectInPlace compares the pods with those of before, and what they have.
func expectInPlace(t *testing.T, ns string, uids map[string]string, image, tier string) {
	t.Helper()
	if now := podUIDs(t, ns); !maps.Equal(now, uids) {
		t.Errorf("the pods are %v, want those of before, %v", now, uids)
	}
	if err := eachPod(t.Context(), ns, func(pod *corev1.Pod) error {
		_, noted := pod.Annotations[v1.InPlaceAnnotation]
		if got := pod.Spec.Containers[0].Image; got != image || pod.Labels["tier"] != tier || noted {
			return fmt.Errorf("pod %s has image %s, the labels %v and the annotations %v, want %s, tier %q and no note", pod.Name, got, pod.Labels,
				pod.Annotations, image, tier)
		}
		return nil
	}); err != nil {
		t.Error(err)
	}
}

// playContainers gives the containers of pods that are updated in place another ID, once for
// each image, and the resources that they are to have.
func playContainers(t *testing.T, ns string) {
	t.Helper()
	pods := suite.Host.CoreV1().Pods(ns)
	events, err := pods.Watch(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatalf("watching pods: %v", err)
	}
	t.Cleanup(events.Stop)
	go func() {
		for event := range events.ResultChan() {
			pod, ok := event.Object.(*corev1.Pod)
			if !ok || pod.Annotations[v1.InPlaceAnnotation] == "" || len(pod.Status.ContainerStatuses) == 0 {
				continue
			}
			status, id, resources := &pod.Status.ContainerStatuses[0], "test://"+pod.Spec.Containers[0].Image, &pod.Spec.Containers[0].Resources
			if status.ContainerID == id && pod.Status.ObservedGeneration == pod.Generation &&
				equality.Semantic.DeepEqual(status.Resources, resources) {
				continue
			}
			status.ContainerID, status.Resources = id, resources
			pod.Status.ObservedGeneration = pod.Generation
			if _, err := pods.UpdateStatus(t.Context(), pod, metav1.UpdateOptions{}); err != nil && !apierrors.IsConflict(err) &&
				t.Context().Err() == nil {
				t.Errorf("restarting the container of %s: %v", pod.Name, err)
			}
		}
	}()
}
