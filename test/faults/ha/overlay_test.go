//go:build faults

// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package ha

import (
	"bytes"
	"errors"
	"io"
	"os/exec"
	"slices"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/yaml"

	"statefulset.dev/test/harness/lab"
)

const overlay = "../../../artifacts/ha"

// TestTheOverlay renders artifacts/ha as a user would, has the cluster check every
// object, and looks at what makes it highly available.
func TestTheOverlay(t *testing.T) {
	l := lab.Open(t)
	objects := render(t, l)
	apply := exec.CommandContext(t.Context(), l.Path("kubectl"), "--kubeconfig="+l.Path("kubeconfig"), "apply", "--dry-run=server",
		"--validate=strict", "-k", overlay)
	if out, err := apply.CombinedOutput(); err != nil {
		t.Errorf("the cluster does not accept %s: %v\n%s", overlay, err, out)
	}
	kinds := map[string]int{}
	for _, object := range objects {
		kinds[object.GetKind()]++
	}
	for kind, want := range map[string]int{
		"PersistentVolumeClaim": 0, "Deployment": 1, "StatefulSet": 1, "PodDisruptionBudget": 2, "APIService": 1} {
		if kinds[kind] != want {
			t.Errorf("objects of kind %s: got %d, want %d", kind, kinds[kind], want)
		}
	}

	spec := deployment(t, objects).Spec
	pod := spec.Template.Spec
	if *spec.Replicas != 3 || spec.Strategy.Type != appsv1.RollingUpdateDeploymentStrategyType ||
		spec.Strategy.RollingUpdate.MaxUnavailable.IntValue() != 1 {
		t.Errorf("got %d replicas and strategy %+v, want 3 that are replaced one after the other", *spec.Replicas, spec.Strategy)
	}
	if len(pod.TopologySpreadConstraints) != 2 {
		t.Errorf("got spread %+v, want replicas on different nodes and zones", pod.TopologySpreadConstraints)
	}
	for _, volume := range pod.Volumes {
		if volume.PersistentVolumeClaim != nil {
			t.Errorf("got volume %+v, want no data in the pod", volume)
		}
	}
	// The flags are known to the server, and their values are right: it complains of what is added,
	// in a sentence with one semicolon, and would put one before each other complaint.
	args := slices.Concat(pod.Containers[0].Args, []string{"--kubeconfig=" + l.Path("registration", "kubeconfig"), "--data-dir=extra"})
	out, err := exec.CommandContext(t.Context(), l.Program(t, lab.Server).Exe, args...).CombinedOutput()
	lines := strings.Split(strings.TrimSpace(string(out)), "\n")
	last := lines[len(lines)-1]
	refused := strings.HasPrefix(last, `statefulset-apiserver: --data-dir is "extra"`) && strings.HasSuffix(last, "; set only one of them")
	if err == nil || !refused || strings.Count(last, ";") != 1 {
		t.Errorf("the server with the flags of the overlay: got %v, %q, want that it refuses --data-dir and nothing else", err, last)
	}
}

// shutdownFlags are what the overlay says about shutting down.
func shutdownFlags(t *testing.T, l *lab.Lab) map[string]string {
	t.Helper()
	flags := map[string]string{}
	for _, arg := range deployment(t, render(t, l)).Spec.Template.Spec.Containers[0].Args {
		if name, value, ok := strings.Cut(strings.TrimPrefix(arg, "--"), "="); ok && strings.HasPrefix(name, "shutdown-") {
			flags[name] = value
		}
	}
	if len(flags) == 0 {
		t.Fatalf("%s has no flag that begins with --shutdown-", overlay)
	}
	return flags
}

func render(t *testing.T, l *lab.Lab) []unstructured.Unstructured {
	t.Helper()
	rendered, err := exec.CommandContext(t.Context(), l.Path("kubectl"), "kustomize", overlay).Output()
	if err != nil {
		t.Fatalf("rendering %s: %v", overlay, err)
	}
	var objects []unstructured.Unstructured
	for decoder := yaml.NewYAMLOrJSONDecoder(bytes.NewReader(rendered), 4096); ; {
		var object unstructured.Unstructured
		err := decoder.Decode(&object)
		if errors.Is(err, io.EOF) {
			return objects
		}
		if err != nil {
			t.Fatalf("decoding %s: %v", overlay, err)
		}
		objects = append(objects, object)
	}
}

func deployment(t *testing.T, objects []unstructured.Unstructured) *appsv1.Deployment {
	t.Helper()
	for _, object := range objects {
		if object.GroupVersionKind() != appsv1.SchemeGroupVersion.WithKind("Deployment") {
			continue
		}
		found := &appsv1.Deployment{}
		if err := runtime.DefaultUnstructuredConverter.FromUnstructured(object.Object, found); err != nil {
			t.Fatalf("decoding the deployment: %v", err)
		}
		return found
	}
	t.Fatalf("%s has no deployment", overlay)
	return nil
}
