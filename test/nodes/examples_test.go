//go:build nodes

// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package nodes

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	v1 "statefulset.dev/api/apps/v1"
	"statefulset.dev/test/harness"
)

// exampleSet is the set of one of our examples, in a namespace of its own.
type exampleSet struct {
	ns, name string
}

// ours are the images of nodes by those of examples, which nodes cannot pull.
var ours = strings.NewReplacer(
	"registry.k8s.io/e2e-test-images/busybox:1.37.0-1", "localhost/busybox:dev",
	"docker.io/library/zookeeper:3.9", "localhost/zookeeper:dev",
	"docker.io/library/mariadb:10.11", "localhost/galera:dev",
)

// newExample is a namespace for a set, after the controller was given the rights to make the objects that
// the set describes, which it loses when the test has ended.
func newExample(t *testing.T, set string, resources ...string) *exampleSet {
	t.Helper()
	for _, resource := range resources {
		mayMake(t, resource)
	}
	return &exampleSet{cluster.Namespace(t, "nodes"), set}
}

// apply applies an example as it is, but for its images.
func (e *exampleSet) apply(t *testing.T, file string) {
	t.Helper()
	content, err := os.ReadFile(filepath.Join("..", "..", "artifacts", "examples", file))
	if err != nil {
		t.Fatalf("reading the example: %v", err)
	}
	cluster.MustKubectl(t, ours.Replace(string(content)), "apply", "-n", e.ns, "-f", "-")
}

// mayMake gives the controller the right to make objects of a resource until the test has ended.
func mayMake(t *testing.T, resource string) {
	t.Helper()
	rights := filepath.Join("..", "..", "artifacts", "objects", resource)
	cluster.MustKubectl(t, "", "apply", "-k", rights)
	t.Cleanup(func() {
		if _, said, err := cluster.Kubectl(context.WithoutCancel(t.Context()), "", "delete", "-k", rights); err != nil {
			t.Errorf("taking the right away again: %v: %s", err, said)
		}
	})
	harness.Eventually(t, "the controller may make "+resource, func(ctx context.Context) error {
		got, said, _ := cluster.Kubectl(ctx, "", "auth", "can-i", "create", resource,
			"--as=system:serviceaccount:statefulset-system:statefulset-apiserver")
		if got != "yes\n" {
			return fmt.Errorf("the host says %q, %s", got, said)
		}
		return nil
	})
}

func (e *exampleSet) patch(t *testing.T, patch string) {
	t.Helper()
	if _, err := cluster.Sets.AppsV1().StatefulSets(e.ns).Patch(t.Context(), e.name, types.MergePatchType, []byte(patch),
		metav1.PatchOptions{}); err != nil {
		t.Fatalf("changing the set: %v", err)
	}
}

// scale changes the number of members, and waits until they are there and ready.
func (e *exampleSet) scale(t *testing.T, replicas int32) {
	t.Helper()
	e.patch(t, fmt.Sprintf(`{"spec":{"replicas":%d}}`, replicas))
	e.awaitReady(t, replicas)
}

// awaitReady waits until so many members are updated and available, no others are there, and the set
// says that it is ready.
func (e *exampleSet) awaitReady(t *testing.T, n int32) {
	t.Helper()
	harness.Eventually(t, fmt.Sprintf("set %s is ready with %d members", e.name, n), func(ctx context.Context) error {
		found, err := cluster.Sets.AppsV1().StatefulSets(e.ns).Get(ctx, e.name, metav1.GetOptions{})
		if err != nil {
			return err
		}
		ready := readyOf(found)
		s := found.Status
		if s.ObservedGeneration != found.Generation || s.Replicas != n || s.UpdatedReplicas != n || s.AvailableReplicas != n ||
			ready.Status != corev1.ConditionTrue {
			return fmt.Errorf("it has %d members, %d of them updated and %d available, and says %s: %s", s.Replicas, s.UpdatedReplicas,
				s.AvailableReplicas, ready.Reason, ready.Message)
		}
		return nil
	})
}

// readyOf is the condition Ready, with nothing in it if it is not there.
func readyOf(set *v1.StatefulSet) v1.StatefulSetCondition {
	for _, c := range set.Status.Conditions {
		if c.Type == v1.StatefulSetReady {
			return c
		}
	}
	return v1.StatefulSetCondition{}
}

func (e *exampleSet) pod(t *testing.T, ordinal int) *corev1.Pod {
	t.Helper()
	pod, err := cluster.Host.CoreV1().Pods(e.ns).Get(t.Context(), fmt.Sprintf("%s-%d", e.name, ordinal), metav1.GetOptions{})
	if err != nil {
		t.Fatalf("getting member %d: %v", ordinal, err)
	}
	return pod
}

// awaitRecreated waits until a member has another pod than before.
func (e *exampleSet) awaitRecreated(t *testing.T, ordinal int, before *corev1.Pod) {
	t.Helper()
	harness.Eventually(t, "pod "+before.Name+" is another one", func(ctx context.Context) error {
		pod, err := cluster.Host.CoreV1().Pods(e.ns).Get(ctx, before.Name, metav1.GetOptions{})
		if err == nil && pod.UID == before.UID {
			err = fmt.Errorf("member %d has the pod of before, %s", ordinal, pod.Status.Phase)
		}
		return err
	})
}

// run runs a command in the first container of a member.
func (e *exampleSet) run(ctx context.Context, ordinal int, command ...string) (string, error) {
	args := append([]string{"exec", fmt.Sprintf("%s-%d", e.name, ordinal), "-n", e.ns, "--"}, command...)
	exec := kubectl(ctx, args...)
	var complaint strings.Builder
	exec.Stderr = &complaint // kubectl itself says there which container it has chosen
	output, err := exec.Output()
	if err != nil {
		return "", fmt.Errorf("running %q in member %d: %w: %s%s", strings.Join(command, " "), ordinal, err, output, complaint.String())
	}
	return strings.TrimSpace(string(output)), nil
}

// expect waits until a command in a member prints what is wanted.
func (e *exampleSet) expect(t *testing.T, ordinal int, want string, command ...string) {
	t.Helper()
	harness.Eventually(t, fmt.Sprintf("%q in member %d prints %q", strings.Join(command, " "), ordinal, want),
		func(ctx context.Context) error {
			got, err := e.run(ctx, ordinal, command...)
			if err == nil && got != want {
				err = fmt.Errorf("it prints %q", got)
			}
			return err
		})
}

// asker is a pod from which members are asked. (The wget of a static busybox cannot be relied on.)
func (e *exampleSet) asker(t *testing.T) {
	t.Helper()
	if _, err := cluster.Host.CoreV1().Pods(e.ns).Create(t.Context(), &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: "asker"},
		Spec: corev1.PodSpec{
			TerminationGracePeriodSeconds: new(int64(1)),
			Containers:                    []corev1.Container{{Name: "web", Image: image, Args: []string{"-dir=/tmp"}}},
		},
	}, metav1.CreateOptions{}); err != nil {
		t.Fatalf("creating the pod that asks: %v", err)
	}
}

// expectAnswer asks at an address, until what is said has what is wanted.
func (e *exampleSet) expectAnswer(t *testing.T, url, want string) {
	t.Helper()
	harness.Eventually(t, fmt.Sprintf("%s answers %q", url, want), func(ctx context.Context) error {
		output, err := kubectl(ctx, "exec", "asker", "-n", e.ns, "--", "/web", "-ask", url).CombinedOutput()
		if !strings.Contains(string(output), want) {
			return fmt.Errorf("it answers %q, %w", output, err)
		}
		return nil
	})
}

// kept are the UIDs of the objects of a resource that the set has made, by their names.
func (e *exampleSet) kept(t *testing.T, resource string) map[string]string {
	t.Helper()
	said := cluster.MustKubectl(t, "", "get", resource, "-n", e.ns, "-l", v1.GroupName+"/set="+e.name, "-o",
		`jsonpath={range .items[*]}{.metadata.name} {.metadata.uid}{"\n"}{end}`)
	found := map[string]string{}
	for line := range strings.Lines(said) {
		name, uid, _ := strings.Cut(strings.TrimSpace(line), " ")
		found[name] = uid
	}
	return found
}
