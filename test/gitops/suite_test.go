//go:build gitops

// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package gitops

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/yaml"

	"statefulset.dev/test/harness"
)

var suite *harness.Cluster

func TestMain(m *testing.M) { os.Exit(harness.Main(m, &suite)) }

// side is one of the two kinds.
type side struct{ name, group string }

func sides() []side { return []side{{"built-in", "apps"}, {"ours", "apps.statefulset.dev"}} }

// onBothSides runs a test with each kind, in a namespace of its own.
func onBothSides(t *testing.T, test func(t *testing.T, s side, namespace string)) {
	t.Helper()
	for _, s := range sides() {
		t.Run(s.name, func(t *testing.T) { test(t, s, suite.Namespace(t, "gitops")) })
	}
}

// choose returns what is right for the kind.
func choose[T any](s side, builtin, ours T) T {
	if s.name == "ours" {
		return ours
	}
	return builtin
}

func (s side) resource() schema.GroupVersionResource {
	return schema.GroupVersionResource{Group: s.group, Version: "v1", Resource: "statefulsets"}
}

// set is a manifest as people write it: without defaults, with quantities that servers write in another way. It has no pods.
func (s side) set(t *testing.T, namespace, image string) *unstructured.Unstructured {
	t.Helper()
	object := &unstructured.Unstructured{}
	content := fmt.Sprintf(`
apiVersion: %s/v1
kind: StatefulSet
metadata:
  name: db
  namespace: %s
  labels:
    app: db
spec:
  replicas: 0
  minReadySeconds: 5
  selector:
    matchLabels:
      app: db
  template:
    metadata:
      labels:
        app: db
    spec:
      containers:
      - name: main
        image: %s
        env:
        - name: LEVEL
          value: info
        ports:
        - containerPort: 5432
        resources:
          limits:
            cpu: 1000m
            memory: 1024Mi
        volumeMounts:
        - name: data
          mountPath: /data
  volumeClaimTemplates:
  - metadata:
      name: data
    spec:
      accessModes: [ReadWriteOnce]
      resources:
        requests:
          storage: 1024Mi
`, s.group, namespace, image)
	if err := yaml.Unmarshal([]byte(content), &object.Object); err != nil {
		t.Fatal(err)
	}
	return object
}

func (s side) live(t *testing.T, namespace string) *unstructured.Unstructured {
	t.Helper()
	live, err := suite.Dynamic.Resource(s.resource()).Namespace(namespace).Get(t.Context(), "db", metav1.GetOptions{})
	if err != nil {
		t.Fatalf("reading the set: %v", err)
	}
	return live
}

// patch changes the set as another client does, with a field manager of its own.
func (s side) patch(t *testing.T, namespace, patch string) {
	t.Helper()
	_, err := suite.Dynamic.Resource(s.resource()).Namespace(namespace).Patch(t.Context(), "db", types.StrategicMergePatchType,
		[]byte(patch), metav1.PatchOptions{FieldManager: "another"})
	if err != nil {
		t.Fatalf("patching the set: %v", err)
	}
}

const (
	sidecar     = `{"spec":{"template":{"spec":{"containers":[{"name":"sidecar","image":"example.test/sidecar:1"}]}}}}`
	slower      = `{"spec":{"minReadySeconds":9}}`
	otherImage  = `{"spec":{"template":{"spec":{"containers":[{"name":"main","image":"example.test/main:9"}]}}}}`
	first       = "example.test/main:1"
	second      = "example.test/main:2"
	withSidecar = "main=" + second + " sidecar=example.test/sidecar:1"
	withoutIt   = "main=" + second
)

// containers lists the containers of the template with their images, sorted.
func containers(t *testing.T, set *unstructured.Unstructured) string {
	t.Helper()
	var found []string
	for _, item := range containerList(t, set) {
		container, _ := item.(map[string]any)
		found = append(found, fmt.Sprintf("%v=%v", container["name"], container["image"]))
	}
	slices.Sort(found)
	return strings.Join(found, " ")
}

func containerList(t *testing.T, set *unstructured.Unstructured) []any {
	t.Helper()
	list, _, err := unstructured.NestedSlice(set.Object, "spec", "template", "spec", "containers")
	if err != nil {
		t.Fatal(err)
	}
	return list
}

func minReady(t *testing.T, set *unstructured.Unstructured) int64 {
	t.Helper()
	seconds, _, err := unstructured.NestedInt64(set.Object, "spec", "minReadySeconds")
	if err != nil {
		t.Fatal(err)
	}
	return seconds
}

func asYAML(t *testing.T, object *unstructured.Unstructured) string {
	t.Helper()
	content, err := yaml.Marshal(object.Object)
	if err != nil {
		t.Fatal(err)
	}
	return string(content)
}
