//go:build nodes

// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package nodes

import (
	"context"
	"encoding/json"
	"fmt"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"

	v1 "statefulset.dev/api/apps/v1"
	"statefulset.dev/test/harness"
)

// set is a set of one kind in a namespace of its own.
type set struct {
	kind kind
	ns   string
}

const (
	name  = "web"
	port  = 8080
	image = "localhost/web:dev"
)

// newSet creates a set whose members are processes, with directories in the place of
// disks, and waits until all are ready.
func newSet(t *testing.T, k kind, replicas int32, change func(*v1.StatefulSet)) *set {
	t.Helper()
	s := &set{kind: k, ns: cluster.Namespace(t, "nodes")}
	s.create(t, replicas, change)
	s.awaitReady(t, int64(replicas))
	return s
}

// create creates such a set, and its service, in a namespace that is there.
func (s *set) create(t *testing.T, replicas int32, change func(*v1.StatefulSet)) {
	t.Helper()
	made := harness.NewSet(name, replicas)
	made.APIVersion = s.kind.gvr.GroupVersion().String()
	made.Spec.ServiceName = name
	pod := &made.Spec.Template.Spec
	pod.TerminationGracePeriodSeconds = new(int64(5))
	pod.Containers[0] = corev1.Container{
		Name: "web", Image: image,
		VolumeMounts: []corev1.VolumeMount{{Name: "data", MountPath: "/data"}},
		ReadinessProbe: &corev1.Probe{PeriodSeconds: 1, ProbeHandler: corev1.ProbeHandler{HTTPGet: &corev1.HTTPGetAction{
			Path: "/readyz", Port: intstr.FromInt32(port),
		}}},
	}
	pod.Volumes = []corev1.Volume{{Name: "data", VolumeSource: corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}}}}
	if change != nil {
		change(made)
	}
	_, err := cluster.Host.CoreV1().Services(s.ns).Create(t.Context(), &corev1.Service{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec: corev1.ServiceSpec{
			ClusterIP: corev1.ClusterIPNone, PublishNotReadyAddresses: true,
			Selector: map[string]string{"app": name}, Ports: []corev1.ServicePort{{Port: port}},
		},
	}, metav1.CreateOptions{})
	if err != nil {
		t.Fatalf("creating the service: %v", err)
	}
	object, err := runtime.DefaultUnstructuredConverter.ToUnstructured(made)
	if err != nil {
		t.Fatal(err)
	}
	delete(object, "status")
	if _, err := cluster.Dynamic.Resource(s.kind.gvr).Namespace(s.ns).Create(t.Context(), &unstructured.Unstructured{Object: object},
		metav1.CreateOptions{}); err != nil {
		t.Fatalf("creating the set: %v", err)
	}
}

// withClaims gives each member a disk of a size, of a class or of the default one.
func withClaims(size, class string) func(*v1.StatefulSet) {
	return func(made *v1.StatefulSet) {
		made.Spec.Template.Spec.Volumes = nil
		claim := corev1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{Name: "data"}}
		claim.Spec.AccessModes = []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce}
		claim.Spec.Resources.Requests = corev1.ResourceList{corev1.ResourceStorage: resource.MustParse(size)}
		if class != "" {
			claim.Spec.StorageClassName = &class
		}
		made.Spec.VolumeClaimTemplates = []corev1.PersistentVolumeClaim{claim}
	}
}

func (s *set) patch(t *testing.T, patch string) {
	t.Helper()
	if err := s.tryPatch(t.Context(), patch); err != nil {
		t.Fatalf("changing the set: %v", err)
	}
}

func (s *set) tryPatch(ctx context.Context, patch string) error {
	_, err := cluster.Dynamic.Resource(s.kind.gvr).Namespace(s.ns).Patch(ctx, name, types.MergePatchType, []byte(patch), metav1.PatchOptions{})
	return err
}

func (s *set) get(ctx context.Context) (*unstructured.Unstructured, error) {
	return cluster.Dynamic.Resource(s.kind.gvr).Namespace(s.ns).Get(ctx, name, metav1.GetOptions{})
}

// awaitReady waits until so many members are updated and ready, and no others are there.
func (s *set) awaitReady(t *testing.T, n int64) {
	t.Helper()
	harness.Eventually(t, fmt.Sprintf("%d members are ready", n), func(ctx context.Context) error {
		object, err := s.get(ctx)
		if err != nil {
			return err
		}
		status, _, _ := unstructured.NestedMap(object.Object, "status")
		if status["observedGeneration"] != object.GetGeneration() {
			return fmt.Errorf("generation %d is not observed: %v", object.GetGeneration(), status)
		}
		for _, field := range []string{"replicas", "readyReplicas", "updatedReplicas"} {
			if got, _ := status[field].(int64); got != n {
				return fmt.Errorf("%s is %d: %v", field, got, status)
			}
		}
		return nil
	})
}

func (s *set) pod(t *testing.T, ordinal int) *corev1.Pod {
	t.Helper()
	pod, err := cluster.Host.CoreV1().Pods(s.ns).Get(t.Context(), fmt.Sprintf("%s-%d", name, ordinal), metav1.GetOptions{})
	if err != nil {
		t.Fatalf("getting member %d: %v", ordinal, err)
	}
	return pod
}

// awaitPod waits until a member is as wanted, which wanted says by an error if it is not.
func (s *set) awaitPod(t *testing.T, ordinal int, what string, wanted func(*corev1.Pod) error) *corev1.Pod {
	t.Helper()
	var found *corev1.Pod
	harness.Eventually(t, fmt.Sprintf("member %d %s", ordinal, what), func(ctx context.Context) error {
		pod, err := cluster.Host.CoreV1().Pods(s.ns).Get(ctx, fmt.Sprintf("%s-%d", name, ordinal), metav1.GetOptions{})
		if err != nil {
			return err
		}
		found = pod
		return wanted(pod)
	})
	return found
}

// recreated wants another pod than before, and ready.
func recreated(before *corev1.Pod) func(*corev1.Pod) error {
	return func(pod *corev1.Pod) error {
		if pod.UID == before.UID {
			return fmt.Errorf("it is still the pod of before, %s", pod.Status.Phase)
		}
		if readySince(pod).IsZero() {
			return fmt.Errorf("it is %s and not ready", pod.Status.Phase)
		}
		return nil
	}
}

// readySince is when a pod became ready, zero if it is not.
func readySince(pod *corev1.Pod) time.Time {
	for _, c := range pod.Status.Conditions {
		if c.Type == corev1.PodReady && c.Status == corev1.ConditionTrue {
			return c.LastTransitionTime.Time
		}
	}
	return time.Time{}
}

// tell makes a member say that it is ready, or that it is not.
func (s *set) tell(t *testing.T, ordinal int, ready string) {
	t.Helper()
	s.put(t, ordinal, "readyz", ready)
}

// put gives a member something, at a path that it serves.
func (s *set) put(t *testing.T, ordinal int, path, body string) {
	t.Helper()
	err := cluster.Host.CoreV1().RESTClient().Put().Namespace(s.ns).Resource("pods").Name(fmt.Sprintf("%s-%d:%d", name, ordinal, port)).
		SubResource("proxy").Suffix(path).Body([]byte(body)).Do(t.Context()).Error()
	if err != nil {
		t.Fatalf("giving member %d %q at %s: %v", ordinal, body, path, err)
	}
}

// says is what our condition Ready tells, empty for a built-in set, which tells nothing.
func (s *set) says(ctx context.Context) (string, error) {
	object, err := s.get(ctx)
	if err != nil {
		return "", err
	}
	raw, err := json.Marshal(object.Object["status"])
	if err != nil {
		return "", err
	}
	var status v1.StatefulSetStatus
	if err := json.Unmarshal(raw, &status); err != nil {
		return "", err
	}
	for _, c := range status.Conditions {
		if c.Type == v1.StatefulSetReady {
			return c.Message, nil
		}
	}
	return "", nil
}
