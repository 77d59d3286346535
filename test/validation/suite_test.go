//go:build validation

// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package validation

import (
	"fmt"
	"testing"

	corev1 "k8s.io/api/core/v1"
	nodev1 "k8s.io/api/node/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"statefulset.dev/test/harness"
)

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
	cluster, err := harness.Open()
	if err != nil {
		t.Fatal(err)
	}
	client := cluster.Host.CoreV1().RESTClient()
	runtimeClass(t, cluster.Host)
	return sides{
		builtin: side{"apps/v1", cluster.Namespace(t, "validation"), client},
		ours:    side{"apps.statefulset.dev/v1", cluster.Namespace(t, "validation"), client},
	}
}

// runtimeClass makes the class that a seed names, unless it is there already.
func runtimeClass(t *testing.T, host kubernetes.Interface) {
	t.Helper()
	class := &nodev1.RuntimeClass{
		ObjectMeta: metav1.ObjectMeta{Name: "validation"}, Handler: "validation",
		Overhead: &nodev1.Overhead{PodFixed: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("10m")}},
	}
	if _, err := host.NodeV1().RuntimeClasses().Create(t.Context(), class, metav1.CreateOptions{}); err != nil &&
		!apierrors.IsAlreadyExists(err) {
		t.Fatalf("creating a runtime class: %v", err)
	}
}

// collection is the path that sets are created at.
func (s side) collection() string {
	return fmt.Sprintf("/apis/%s/namespaces/%s/statefulsets", s.apiVersion, s.namespace)
}
