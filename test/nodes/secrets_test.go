//go:build nodes

// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package nodes

import (
	"fmt"
	"maps"
	"testing"

	corev1 "k8s.io/api/core/v1"
)

// TestMembersHaveAPasswordAndPagesEach makes the Secrets of two members before the set, and the one of a third
// when that waits for it, and asks each member with its password and with that of another.
func TestMembersHaveAPasswordAndPagesEach(t *testing.T) {
	forOurs(t, "members have a Secret and a ConfigMap each, and Secrets made by hand are used", func(t *testing.T, k kind) {
		e := newExample(t, "web", "configmaps", "secrets")
		for ordinal := range 2 {
			e.givePassword(t, ordinal)
		}
		e.apply(t, "secrets.yaml")
		e.awaitReady(t, 2)
		e.patch(t, `{"spec":{"replicas":3}}`)
		s := &set{kind: k, ns: e.ns}
		s.awaitPod(t, 2, "waits for its password", func(pod *corev1.Pod) error {
			if len(pod.Status.ContainerStatuses) == 0 || pod.Status.ContainerStatuses[0].State.Waiting == nil ||
				pod.Status.ContainerStatuses[0].State.Waiting.Reason != "CreateContainerConfigError" {
				return fmt.Errorf("it is %+v", pod.Status.ContainerStatuses)
			}
			return nil
		})
		e.givePassword(t, 2)
		e.awaitReady(t, 3)
		e.asker(t)
		for ordinal := range 3 {
			for by := range 3 {
				e.expectPage(t, ordinal, by)
			}
		}

		pages := e.kept(t, "configmaps")
		e.scale(t, 2)
		e.scale(t, 3)
		e.expectPage(t, 2, 2)
		if now := e.kept(t, "configmaps"); len(now) != 3 || !maps.Equal(now, pages) {
			t.Errorf("after member 2 left and came back the ConfigMaps are %v, want %v, one for each member", now, pages)
		}
	})
}

// givePassword gives a member a password, in the Secret that the set may have made without one.
func (e *exampleSet) givePassword(t *testing.T, ordinal int) {
	t.Helper()
	cluster.MustKubectl(t, fmt.Sprintf("apiVersion: v1\nkind: Secret\nmetadata: {name: web-%d-password}\nstringData: {password: secret-%d}\n",
		ordinal, ordinal), "apply", "-n", e.ns, "-f", "-")
}

// expectPage asks a member with a password, its own or that of another.
func (e *exampleSet) expectPage(t *testing.T, ordinal, password int) {
	t.Helper()
	want := fmt.Sprintf("This is web-%d, number %d.\n", ordinal, ordinal)
	if ordinal != password {
		want = "401 Unauthorized"
	}
	e.expectAnswer(t, fmt.Sprintf("http://member:secret-%d@%s:8000/", password, e.pod(t, ordinal).Status.PodIP), want)
}
