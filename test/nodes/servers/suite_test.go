//go:build nodes

// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package servers

import (
	"context"
	"fmt"
	"os"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "statefulset.dev/api/apps/v1"
	"statefulset.dev/test/harness"
)

const (
	system   = "statefulset-system"
	store    = "statefulset-apiserver-etcd"
	ofServer = "app.kubernetes.io/name=statefulset-apiserver"
	ofStore  = "app.kubernetes.io/name=statefulset-apiserver-etcd"
	setName  = "web"
	members  = 5
	// churnPause is between two members that are taken away, each of which makes the leader write.
	churnPause = 200 * time.Millisecond
)

// cluster is shared by all tests: real nodes take time to start.
var cluster *harness.Cluster

func TestMain(m *testing.M) { os.Exit(harness.Main(m, &cluster)) }

// newSet has members that no node takes. So each is gone at once when it is deleted, and is
// created anew by who controls.
func newSet(t *testing.T) (namespace string) {
	t.Helper()
	namespace = cluster.Namespace(t, "servers")
	set := harness.NewSet(setName, members)
	set.Spec.PodManagementPolicy = v1.ParallelPodManagement
	set.Spec.Template.Spec.NodeSelector = map[string]string{"example.test/there-is": "none"}
	if _, err := cluster.Sets.AppsV1().StatefulSets(namespace).Create(t.Context(), set, metav1.CreateOptions{}); err != nil {
		t.Fatalf("creating a set: %v", err)
	}
	awaitMembers(t, namespace)
	return namespace
}

func awaitMembers(t *testing.T, namespace string) {
	t.Helper()
	harness.Eventually(t, "the set has its members", func(ctx context.Context) error {
		pods, err := cluster.Host.CoreV1().Pods(namespace).List(ctx, metav1.ListOptions{})
		if err == nil && len(pods.Items) != members {
			err = fmt.Errorf("it has %d of %d", len(pods.Items), members)
		}
		return err
	})
}

// churn takes one member after the other away until it is stopped.
func churn(t *testing.T, namespace string) (stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- takeAway(ctx, namespace) }()
	return func() {
		t.Helper()
		cancel()
		if err := <-done; err != nil {
			t.Errorf("taking members away: %v", err)
		}
	}
}

func takeAway(ctx context.Context, namespace string) error {
	for ordinal := 0; ; ordinal = (ordinal + 1) % members {
		err := cluster.Host.CoreV1().Pods(namespace).Delete(ctx, fmt.Sprintf("%s-%d", setName, ordinal), metav1.DeleteOptions{})
		if err != nil && !apierrors.IsNotFound(err) && ctx.Err() == nil {
			return err
		}
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(churnPause):
		}
	}
}

// podsOf are those of the server or of its store that do not end.
func podsOf(ctx context.Context, selector string) ([]corev1.Pod, error) {
	list, err := cluster.Host.CoreV1().Pods(system).List(ctx, metav1.ListOptions{LabelSelector: selector})
	if err != nil {
		return nil, err
	}
	var found []corev1.Pod
	for _, pod := range list.Items {
		if pod.DeletionTimestamp == nil {
			found = append(found, pod)
		}
	}
	return found, nil
}

// awaitServers waits until all servers and all members of their store are ready.
func awaitServers(t *testing.T) {
	t.Helper()
	for _, selector := range []string{ofStore, ofServer} {
		harness.Eventually(t, "three pods of "+selector+" are ready", func(ctx context.Context) error {
			pods, err := podsOf(ctx, selector)
			if err != nil {
				return err
			}
			ready := 0
			for _, pod := range pods {
				if isReady(pod) {
					ready++
				}
			}
			if ready != 3 || len(pods) != 3 {
				return fmt.Errorf("%d of %d are", ready, len(pods))
			}
			return nil
		})
	}
}

func isReady(pod corev1.Pod) bool {
	for _, condition := range pod.Status.Conditions {
		if condition.Type == corev1.PodReady {
			return condition.Status == corev1.ConditionTrue
		}
	}
	return false
}
