// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes/fake"

	"statefulset.dev/identity"
)

func TestMembersAreThoseThatTheHostHas(t *testing.T) {
	set := newSet("web")
	set.Spec.Replicas = new(int32(4))
	pod := func(ordinal int, change ...func(*corev1.Pod)) *corev1.Pod {
		pod := newPod(set, ordinal)
		pod.UID = types.UID(fmt.Sprintf("pod-%d", ordinal))
		pod.Labels[identity.RevisionLabel] = "web-a"
		pod.Status.Phase = corev1.PodRunning
		pod.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}}
		for _, f := range change {
			f(pod)
		}
		return pod
	}
	host := fake.NewClientset(pod(0), pod(9), newPod(newSet("other"), 1),
		pod(1, func(pod *corev1.Pod) { pod.Status.Conditions[0].Status = corev1.ConditionFalse }),
		pod(2, func(pod *corev1.Pod) {
			pod.DeletionTimestamp, pod.Finalizers = new(metav1.Now()), []string{"example.com/x"}
			pod.Labels[identity.RevisionLabel] = "web-b"
		}))
	var got []string
	err := newPreview(host).Members(t.Context(), set, func(ordinal int, pod types.UID, revision string, serves bool) {
		got = append(got, fmt.Sprintf("%d %s %s %t", ordinal, pod, revision, serves))
	})
	if want := []string{"0 pod-0 web-a true", "1 pod-1 web-a false", "2 pod-2 web-b false"}; err != nil || !slices.Equal(got, want) {
		t.Errorf("got members %q and error %v, want %q", got, err, want)
	}
}

func TestMembersOfASilentHostAreNotGuessed(t *testing.T) {
	host := fake.NewClientset()
	refuse(host, "list", "", errors.New("connection refused"))
	err := newPreview(host).Members(t.Context(), newSet("web"), func(int, types.UID, string, bool) { t.Error("got a member, want none") })
	const want = "the state of the members is not known, because the host cluster did not list pods: connection refused"
	if seconds, ok := apierrors.SuggestsClientDelay(err); !apierrors.IsServiceUnavailable(err) || err.Error() != want || !ok ||
		seconds != retryAfter {
		t.Errorf("got error %v and a delay of %d s, want %q, and %d s", err, seconds, want, retryAfter)
	}
}
