//go:build nodes

// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package nodes

import (
	"context"
	"fmt"
	"testing"

	corev1 "k8s.io/api/core/v1"

	v1 "statefulset.dev/api/apps/v1"
	"statefulset.dev/test/harness"
)

// note writes its arguments to the disk when it starts, and goes on until it is told to end.
const note = `echo "$0 $1 $2" >> /data/me; trap exit TERM; while true; do sleep 1; done`

// TestMembersAreGivenTheirNames has the kubelet look up parameters, and what is none, in the
// arguments of a container, and primes a disk. After a member has been added, the others go on,
// and a container that starts again is told how many there are now.
func TestMembersAreGivenTheirNames(t *testing.T) {
	forOurs(t, "members are given their names and their number, and those that start anew the number of now", func(t *testing.T, k kind) {
		s := newSet(t, k, 2, func(made *v1.StatefulSet) {
			made.Spec.Identity = &v1.MemberIdentity{}
			mounts := []corev1.VolumeMount{{Name: "data", MountPath: "/data"}}
			pod := &made.Spec.Template.Spec
			pod.InitContainers = []corev1.Container{{
				Name: "prime", Image: "localhost/kubectl:dev", VolumeMounts: mounts,
				Command: []string{"/bin/sh", "-c", "test -f /data/myid || echo -n $(ORDINAL) > /data/myid"},
			}}
			pod.Containers = append(pod.Containers, corev1.Container{
				Name: "me", Image: "localhost/kubectl:dev", VolumeMounts: mounts,
				Command: []string{"/bin/sh", "-c", note}, Args: []string{"$(IDENTITY)", "$(hostname)", "$(REPLICAS)"},
			})
		})
		for ordinal := range 2 {
			if got, want := s.read(t, ordinal, "myid"), fmt.Sprint(ordinal); got != want {
				t.Errorf("the disk of member %d was primed with %q, want %q", ordinal, got, want)
			}
		}
		const before = "web-1 $(hostname) 2\n"
		if got := s.read(t, 1, "me"); got != before {
			t.Errorf("member 1 was given %q, want %q", got, before)
		}

		pods := s.watchPods(t)
		s.patch(t, `{"spec":{"replicas":3}}`)
		s.awaitReady(t, 3)
		harness.Eventually(t, "member 1 is told that there are 3", func(context.Context) error {
			if got := s.pod(t, 1).Annotations[v1.ReplicasAnnotation]; got != "3" {
				return fmt.Errorf("it is told %q", got)
			}
			return nil
		})
		if output, err := kubectl(t.Context(), "exec", "web-1", "-n", s.ns, "-c", "me", "--", "/bin/sh", "-c",
			"kill 1").CombinedOutput(); err != nil {
			t.Fatalf("ending a container of member 1: %v, %s", err, output)
		}
		harness.Eventually(t, "the container of member 1 has started again", func(context.Context) error {
			if got, want := s.read(t, 1, "me"), before+"web-1 $(hostname) 3\n"; got != want {
				return fmt.Errorf("it was given %q, want %q", got, want)
			}
			return nil
		})
		pods.expect(t, "web-2 came")
	})
}
