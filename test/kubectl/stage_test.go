//go:build kubectl

// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package kubectl

import (
	"bytes"
	"context"
	"fmt"
	"path/filepath"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/utils/ptr"
)

// stage is where one side plays one row.
type stage struct {
	side      side
	namespace string
	// kubeconfigs are files, by who a step is run as.
	kubeconfigs map[string]string
}

func newStage(t *testing.T, r row, s side) *stage {
	t.Helper()
	ns := suite.Namespace(t, "kubectl")
	// Without it our kind warns, and apps/v1 does not.
	headless := &corev1.Service{ObjectMeta: metav1.ObjectMeta{Name: "db"}, Spec: corev1.ServiceSpec{ClusterIP: corev1.ClusterIPNone}}
	if _, err := suite.Host.CoreV1().Services(ns).Create(t.Context(), headless, metav1.CreateOptions{}); err != nil {
		t.Fatalf("creating a service: %v", err)
	}
	g := &stage{side: s, namespace: ns, kubeconfigs: kubeconfigs(t, ns)}
	if replicas := ptr.Deref(r.Replicas, 2); replicas >= 0 {
		g.createSet(t, int64(replicas))
	}
	return g
}

// kubeconfigs writes one for each kind of user.
func kubeconfigs(t *testing.T, namespace string) map[string]string {
	t.Helper()
	files := map[string]string{}
	for _, as := range []string{"", nobody, unreachable} {
		config, err := clientcmd.LoadFromFile(filepath.Join(suite.Dir, "kubeconfig"))
		if err != nil {
			t.Fatalf("reading the cluster's kubeconfig: %v", err)
		}
		current := config.Contexts[config.CurrentContext]
		current.Namespace = namespace
		switch as {
		case nobody:
			config.AuthInfos[current.AuthInfo].Impersonate = nobody
		case unreachable:
			config.Clusters[current.Cluster].Server = "https://127.0.0.1:1"
		}
		files[as] = filepath.Join(t.TempDir(), "kubeconfig")
		if err := clientcmd.WriteToFile(*config, files[as]); err != nil {
			t.Fatalf("writing a kubeconfig: %v", err)
		}
	}
	return files
}

func (g *stage) createSet(t *testing.T, replicas int64) {
	t.Helper()
	group := g.side.words["{group}"]
	labels := map[string]any{"app": "db", "in": g.namespace}
	set := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": group + "/v1",
		"kind":       "StatefulSet",
		"metadata":   map[string]any{"name": "db", "labels": map[string]any{"app": "db"}},
		"spec": map[string]any{
			"replicas":    replicas,
			"serviceName": "db",
			"selector":    map[string]any{"matchLabels": map[string]any{"app": "db"}},
			"template": map[string]any{
				"metadata": map[string]any{"labels": labels},
				"spec": map[string]any{"containers": []any{map[string]any{
					"name": "main", "image": "example.test/main:1",
					"ports": []any{map[string]any{"name": "sql", "containerPort": int64(5432)}},
				}}},
			},
		},
	}}
	sets := suite.Dynamic.Resource(schema.GroupVersionResource{Group: group, Version: "v1", Resource: "statefulsets"}).Namespace(g.namespace)
	if _, err := sets.Create(t.Context(), set, metav1.CreateOptions{}); err != nil {
		t.Fatalf("%s: creating the set: %v", g.side.name, err)
	}
	var last string
	err := wait.PollUntilContextTimeout(t.Context(), 100*time.Millisecond, patience, true, func(ctx context.Context) (bool, error) {
		found, err := sets.Get(ctx, "db", metav1.GetOptions{})
		if err != nil {
			last = err.Error()
			return false, nil //nolint:nilerr // it is asked again.
		}
		ready, _, _ := unstructured.NestedInt64(found.Object, "status", "availableReplicas")
		current, _, _ := unstructured.NestedInt64(found.Object, "status", "currentReplicas")
		observed, _, _ := unstructured.NestedInt64(found.Object, "status", "observedGeneration")
		last = fmt.Sprintf("%d of %d available, %d current, generation %d observed", ready, replicas, current, observed)
		return ready == replicas && current == replicas && observed == found.GetGeneration(), nil
	})
	if err != nil {
		t.Fatalf("%s: waiting for the set: %v; last seen: %s", g.side.name, err, last)
	}
}

// shared is a buffer that is read while a command writes to it.
type shared struct {
	mu     sync.Mutex
	buffer bytes.Buffer
}

func (s *shared) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.buffer.Write(p)
}

func (s *shared) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.buffer.String()
}
