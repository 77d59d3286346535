//go:build validation

// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package validation

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	nodev1 "k8s.io/api/node/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
)

// patience is how long the suite waits for what the cluster does by itself.
const patience = time.Minute

// side is one of the two that are asked.
type side struct {
	apiVersion string
	namespace  string
	client     rest.Interface
}

// sides are the built-in StatefulSet and ours, in a namespace each.
type sides struct{ builtin, ours side }

func open(t *testing.T) sides {
	t.Helper()
	dir := os.Getenv("STATEFULSET_CLUSTER_DIR")
	if dir == "" {
		t.Fatal("STATEFULSET_CLUSTER_DIR is not set: run make test-validation, or name the directory of a cluster that bin/cluster started")
	}
	config, err := clientcmd.BuildConfigFromFlags("", filepath.Join(dir, "kubeconfig"))
	if err != nil {
		t.Fatalf("reading the cluster's kubeconfig: %v", err)
	}
	config.QPS = -1
	host, err := kubernetes.NewForConfig(config)
	if err != nil {
		t.Fatalf("creating a client: %v", err)
	}
	runtimeClass(t, host)
	return sides{
		builtin: side{"apps/v1", namespace(t, host), host.CoreV1().RESTClient()},
		ours:    side{"apps.statefulset.dev/v1", namespace(t, host), host.CoreV1().RESTClient()},
	}
}

// namespace makes a namespace in which pods can be created.
func namespace(t *testing.T, host kubernetes.Interface) string {
	t.Helper()
	ns, err := host.CoreV1().Namespaces().Create(t.Context(), &corev1.Namespace{
		ObjectMeta: metav1.ObjectMeta{GenerateName: "validation-"},
	}, metav1.CreateOptions{})
	if err != nil {
		t.Fatalf("creating a namespace: %v", err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		defer cancel()
		_ = host.CoreV1().Namespaces().Delete(ctx, ns.Name, metav1.DeleteOptions{})
	})
	err = wait.PollUntilContextTimeout(t.Context(), 50*time.Millisecond, patience, true, func(ctx context.Context) (bool, error) {
		_, err := host.CoreV1().ServiceAccounts(ns.Name).Get(ctx, "default", metav1.GetOptions{})
		return err == nil, nil
	})
	if err != nil {
		t.Fatalf("waiting for the service account of namespace %s: %v", ns.Name, err)
	}
	return ns.Name
}

// runtimeClass makes the class that a seed names, unless it is there already.
func runtimeClass(t *testing.T, host kubernetes.Interface) {
	t.Helper()
	class := &nodev1.RuntimeClass{
		ObjectMeta: metav1.ObjectMeta{Name: "validation"}, Handler: "validation",
		Overhead: &nodev1.Overhead{PodFixed: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("10m")}},
	}
	if _, err := host.NodeV1().RuntimeClasses().Create(t.Context(), class, metav1.CreateOptions{}); err != nil && !apierrors.IsAlreadyExists(err) {
		t.Fatalf("creating a runtime class: %v", err)
	}
}

// collection is the path that sets are created at.
func (s side) collection() string {
	return fmt.Sprintf("/apis/%s/namespaces/%s/statefulsets", s.apiVersion, s.namespace)
}
