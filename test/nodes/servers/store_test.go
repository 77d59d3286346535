//go:build nodes

// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package servers

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"statefulset.dev/test/harness"
)

const (
	allowDelete = "apps.statefulset.dev/allow-delete=yes"
	// survival is for how long the host's garbage collector may look at an empty store.
	survival = time.Minute
)

// TestAllDisksOfTheStoreAreLost empties them, restores a copy that is older than what was lost, and
// checks that no member is deleted before a user has accepted that, and none is recreated after it.
func TestAllDisksOfTheStoreAreLost(t *testing.T) {
	awaitServers(t)
	namespace := newSet(t)
	later := cluster.Namespace(t, "servers")
	before := membersOf(t, namespace)
	backup := exec(t, "", store+"-0", "store", "backup", "--data-dir=/data/etcd", "--to=-")
	if _, err := cluster.Sets.AppsV1().StatefulSets(later).Create(t.Context(), harness.NewSet("later", 0),
		metav1.CreateOptions{}); err != nil {
		t.Fatalf("creating a set that the copy does not have: %v", err)
	}

	cluster.MustKubectl(t, "", "-n", system, "annotate", "pvc", "-l", ofStore, allowDelete)
	cluster.MustKubectl(t, "", "-n", system, "delete", "pvc", "-l", ofStore, "--wait=false")
	cluster.MustKubectl(t, "", "-n", system, "delete", "pod", "-l", ofStore)
	emptied := time.Now()
	harness.Eventually(t, "nothing is served for a minute", func(ctx context.Context) error {
		_, err := cluster.Sets.AppsV1().StatefulSets(namespace).Get(ctx, setName, metav1.GetOptions{})
		if err == nil || apierrors.IsNotFound(err) {
			t.Fatalf("asking for the set of an empty store: got %v, want it not to be served", err)
		}
		if time.Since(emptied) < survival {
			return errors.New("it is not over yet")
		}
		return nil
	})
	same(t, "on an empty store", namespace, before)

	exec(t, backup, store+"-0", "store", "restore", "--accept-unauthenticated", "--from=-", "--data-dir=/data/etcd")
	accept := accepting(t)
	same(t, "on an older store", namespace, before)
	cluster.MustKubectl(t, "", "-n", system, "annotate", "--overwrite", "configmap", "statefulset-apiserver-store", accept)
	harness.Eventually(t, "the set is served", func(ctx context.Context) error {
		_, err := cluster.Sets.AppsV1().StatefulSets(namespace).Get(ctx, setName, metav1.GetOptions{})
		return err
	})
	awaitServers(t)
	// What is done anew shows that the controller has looked at what is there.
	if _, err := cluster.Sets.AppsV1().StatefulSets(namespace).Patch(t.Context(), setName, types.MergePatchType,
		[]byte(`{"spec":{"minReadySeconds":1}}`), metav1.PatchOptions{}); err != nil {
		t.Fatalf("changing the set: %v", err)
	}
	harness.Eventually(t, "the controller has seen the change", func(ctx context.Context) error {
		set, err := cluster.Sets.AppsV1().StatefulSets(namespace).Get(ctx, setName, metav1.GetOptions{})
		if err == nil && set.Status.ObservedGeneration != set.Generation {
			err = fmt.Errorf("it has seen generation %d of %d", set.Status.ObservedGeneration, set.Generation)
		}
		return err
	})
	same(t, "after the restoration", namespace, before)
}

// accepting waits until a server says by which annotation an older store is accepted.
func accepting(t *testing.T) string {
	t.Helper()
	said := regexp.MustCompile("apps\\.statefulset\\.dev/accept-store=[^`]*")
	var annotation string
	harness.Eventually(t, "a server says how the store is accepted", func(ctx context.Context) error {
		logs, _, err := cluster.Kubectl(ctx, "", "-n", system, "logs", "deployment/statefulset-apiserver", "--tail=200")
		if found := said.FindAllString(logs, -1); len(found) > 0 {
			annotation = found[len(found)-1]
			return nil
		}
		return errors.Join(err, errors.New("its log has no such words"))
	})
	return annotation
}

// exec runs the server's program in a container of the store, with an input, and returns its output.
// The first one waits for it, since it may have to begin first.
func exec(t *testing.T, stdin, pod string, args ...string) string {
	t.Helper()
	var output string
	harness.Eventually(t, strings.Join(args[:2], " ")+" succeeds", func(ctx context.Context) (err error) {
		output, _, err = cluster.Kubectl(ctx, stdin,
			append([]string{"-n", system, "exec", "-i", pod, "--", "/statefulset-apiserver"}, args...)...)
		return err
	})
	return output
}

// membersOf are the UIDs of pods, by name.
func membersOf(t *testing.T, namespace string) map[string]types.UID {
	t.Helper()
	pods, err := cluster.Host.CoreV1().Pods(namespace).List(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatalf("listing members: %v", err)
	}
	uids := map[string]types.UID{}
	for _, pod := range pods.Items {
		if pod.DeletionTimestamp == nil {
			uids[pod.Name] = pod.UID
		}
	}
	return uids
}

func same(t *testing.T, when, namespace string, want map[string]types.UID) {
	t.Helper()
	got := membersOf(t, namespace)
	for name, uid := range want {
		if got[name] != uid {
			t.Errorf("%s: pod %s: got UID %q, want %q, which it had before", when, name, got[name], uid)
		}
	}
	if len(got) != len(want) {
		t.Errorf("%s: got %d members, want %d", when, len(got), len(want))
	}
}
