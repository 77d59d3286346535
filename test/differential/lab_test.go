//go:build differential

// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package differential

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"
	watchtools "k8s.io/client-go/tools/watch"

	"statefulset.dev/test/harness"
)

// node is where the pods of the scenarios run. It has no annotation that would make
// anybody but the test look after it.
const node = "differential"

// patience is how long the lab waits for what the cluster does by itself.
const patience = time.Minute

// lab is the cluster, watched. All sides share its watches.
type lab struct {
	*harness.Cluster

	mu sync.Mutex
	// sides are those under observation, by namespace.
	sides map[string]*side
}

func openLab(t *testing.T) *lab {
	t.Helper()
	cluster, err := harness.Open()
	if err != nil {
		t.Fatal(err)
	}
	l := &lab{Cluster: cluster, sides: map[string]*side{}}
	l.makeNode(t)
	l.makeStorageClass(t)
	l.MayMake(t, []string{"configmaps", "secrets"})
	for kind, resource := range hostResources() {
		l.watch(t, kind, resource)
	}
	l.watch(t, sets, builtinSets)
	l.watch(t, sets, ourSets)
	if err := l.WarmUp(t.Context()); err != nil {
		t.Fatal(err)
	}
	return l
}

// makeNode makes the node that pods are bound to: those of a node that does not
// exist would be collected as garbage.
func (l *lab) makeNode(t *testing.T) {
	t.Helper()
	_, err := l.Host.CoreV1().Nodes().Create(t.Context(), &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: node}}, metav1.CreateOptions{})
	if err != nil && !apierrors.IsAlreadyExists(err) {
		t.Fatalf("creating node %s: %v", node, err)
	}
}

// makeStorageClass makes the class that the claims of the scenarios name. Nothing provisions volumes of it.
func (l *lab) makeStorageClass(t *testing.T) {
	t.Helper()
	class := &storagev1.StorageClass{ObjectMeta: metav1.ObjectMeta{Name: "unprovisioned"}, Provisioner: "kubernetes.io/no-provisioner"}
	_, err := l.Host.StorageV1().StorageClasses().Create(t.Context(), class, metav1.CreateOptions{})
	if err != nil && !apierrors.IsAlreadyExists(err) {
		t.Fatalf("creating StorageClass %s: %v", class.Name, err)
	}
}

// watch tells the sides of every change of a resource from now on.
func (l *lab) watch(t *testing.T, kind string, resource schema.GroupVersionResource) {
	t.Helper()
	all := l.Dynamic.Resource(resource)
	list, err := all.List(t.Context(), metav1.ListOptions{Limit: 1})
	if err != nil {
		t.Fatalf("listing %s: %v", resource, err)
	}
	watcher, err := watchtools.NewRetryWatcherWithContext(t.Context(), list.GetResourceVersion(), &cache.ListWatch{
		WatchFuncWithContext: func(ctx context.Context, options metav1.ListOptions) (watch.Interface, error) {
			return all.Watch(ctx, options)
		},
	})
	if err != nil {
		t.Fatalf("watching %s: %v", resource, err)
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		for event := range watcher.ResultChan() {
			if object, ok := event.Object.(*unstructured.Unstructured); ok {
				l.tell(kind, resource, event.Type, object)
			} else {
				t.Errorf("the watch of %s has failed: %+v", resource, event.Object)
			}
		}
	}()
	t.Cleanup(func() {
		watcher.Stop()
		<-ended
	})
}

func (l *lab) tell(kind string, resource schema.GroupVersionResource, event watch.EventType, object *unstructured.Unstructured) {
	l.mu.Lock()
	side := l.sides[object.GetNamespace()]
	l.mu.Unlock()
	if side != nil && (kind != sets || resource == side.sets) {
		side.observe(kind, event, object)
	}
}

// open makes a namespace for one side of a scenario.
func (l *lab) open(ctx context.Context, scenario, suffix string, sets schema.GroupVersionResource) (*side, error) {
	ns, err := l.Host.CoreV1().Namespaces().Create(ctx, &corev1.Namespace{
		ObjectMeta: metav1.ObjectMeta{GenerateName: scenario + "-" + suffix + "-"},
	}, metav1.CreateOptions{})
	if err != nil {
		return nil, fmt.Errorf("creating a namespace: %w", err)
	}
	s, err := newSide(l, ns.Name, sets)
	if err != nil {
		return nil, err
	}
	l.mu.Lock()
	l.sides[ns.Name] = s
	l.mu.Unlock()
	// Without its service account no pod could be created in the namespace.
	err = wait.PollUntilContextTimeout(ctx, 50*time.Millisecond, patience, true, func(ctx context.Context) (bool, error) {
		_, err := l.Host.CoreV1().ServiceAccounts(ns.Name).Get(ctx, "default", metav1.GetOptions{})
		return err == nil, nil
	})
	if err != nil {
		return nil, fmt.Errorf("waiting for the service account of namespace %s: %w", ns.Name, err)
	}
	return s, nil
}

// close forgets a side and lets its namespace go, without waiting for it to be gone.
func (l *lab) close(ctx context.Context, s *side) {
	l.mu.Lock()
	delete(l.sides, s.namespace)
	l.mu.Unlock()
	_ = l.Host.CoreV1().Namespaces().Delete(ctx, s.namespace, metav1.DeleteOptions{})
}
