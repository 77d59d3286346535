//go:build nodes

// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package servers

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"statefulset.dev/test/harness"
)

const leaseName = "statefulset-apiserver-controller"

// leader waits until a server that does not end controls, and returns its pod.
func leader(t *testing.T) corev1.Pod {
	t.Helper()
	var found corev1.Pod
	harness.Eventually(t, "a server controls", func(ctx context.Context) error {
		lease, err := cluster.Host.CoordinationV1().Leases(system).Get(ctx, leaseName, metav1.GetOptions{})
		if err != nil {
			return err
		}
		if lease.Spec.HolderIdentity == nil || *lease.Spec.HolderIdentity == "" {
			return errors.New("nobody has the lease")
		}
		name, _, _ := strings.Cut(*lease.Spec.HolderIdentity, "_")
		pods, err := podsOf(ctx, ofServer)
		for _, pod := range pods {
			if pod.Name == name && isReady(pod) {
				found = pod
				return nil
			}
		}
		return errors.Join(err, fmt.Errorf("%s has the lease, and is no pod that is ready", *lease.Spec.HolderIdentity))
	})
	return found
}

// signal tells the process of a server something past the kubelet. Nodes are network namespaces
// of this machine, so their processes are among those that are seen here.
func signal(t *testing.T, pod corev1.Pod, what syscall.Signal) {
	t.Helper()
	pid, err := processOf(pod)
	if err == nil {
		err = syscall.Kill(pid, what)
	}
	if err != nil {
		t.Fatalf("signalling %s: %v", pod.Name, err)
	}
}

func processOf(pod corev1.Pod) (int, error) {
	groups, err := filepath.Glob("/proc/[0-9]*/cgroup")
	if err != nil {
		return 0, err
	}
	for _, group := range groups {
		of := filepath.Dir(group)
		raw, err := os.ReadFile(group)
		if err != nil || !strings.Contains(string(raw), string(pod.UID)) {
			continue // it has ended, or is another's
		}
		if exe, err := os.Readlink(filepath.Join(of, "exe")); err == nil && filepath.Base(exe) == "statefulset-apiserver" {
			return strconv.Atoi(filepath.Base(of))
		}
	}
	return 0, fmt.Errorf("pod %s (%s) has no process of ours", pod.Name, pod.UID)
}
