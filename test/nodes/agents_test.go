//go:build nodes

// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package nodes

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "statefulset.dev/api/apps/v1"
)

// agent is the name of the container beside a member that speaks to the cluster, and of the
// service account that it does so with.
const agent = "agent"

// What agents run. They read from the disk of their member what they have been told.
const (
	// healthy judges its member when it is told that it is.
	healthy = `
		trap exit TERM
		until [ "$(cat /data/value 2>/dev/null)" = healthy ]; do sleep 1; done
		until kubectl patch pod "$HOSTNAME" --subresource=status -p '{"status":{"conditions":[{"type":"example.com/healthy","status":"True","reason":"Checked"}]}}'; do sleep 1; done
		while true; do sleep 1; done`
	// handover answers the gate of its member when it is told that nothing is left to hand over.
	handover = `
		kubectl get pod "$HOSTNAME" --watch -o jsonpath='{.status.conditions[?(@.type=="example.com/handed-over")].reason} {.metadata.annotations.apps\.statefulset\.dev/disruption}{"\n"}' |
		while read -r reason question; do
			[ "$reason" = Requested ] || continue
			until [ "$(cat /data/value 2>/dev/null)" = handed-over ]; do sleep 1; done
			id=$(echo "$question" | sed 's/.*"id":\([0-9]*\).*/\1/')
			kubectl patch pod "$HOSTNAME" --subresource=status -p '{"status":{"conditions":[{"type":"example.com/handed-over","status":"True","reason":"Request'"$id"'"}]}}'
		done`
	// role labels the pod of an etcd member with what it is.
	role = `
		trap exit TERM
		while true; do
			status=$(busybox wget -qO- --post-data={} http://127.0.0.1:2379/v3/maintenance/status)
			member=$(echo "$status" | sed -n 's/.*"member_id":"\([0-9]*\)".*/\1/p')
			leader=$(echo "$status" | sed -n 's/.*"leader":"\([0-9]*\)".*/\1/p')
			role=follower
			[ -z "$leader" ] || [ "$leader" != "$member" ] || role=leader
			[ "$role" = "$said" ] || { kubectl label pod "$HOSTNAME" --overwrite "role=$role" && said=$role; }
			sleep 1
		done`
)

// newSetWithAgents creates a set whose members have an agent beside them, which may change pods
// and their status, and waits until all are ready.
func newSetWithAgents(t *testing.T, k kind, replicas int32, script string, change func(*v1.StatefulSet)) *set {
	t.Helper()
	s := &set{kind: k, ns: cluster.Namespace(t, "nodes")}
	meta := metav1.ObjectMeta{Name: agent}
	if _, err := cluster.Host.CoreV1().ServiceAccounts(s.ns).Create(t.Context(), &corev1.ServiceAccount{ObjectMeta: meta},
		metav1.CreateOptions{}); err != nil {
		t.Fatalf("creating the service account of agents: %v", err)
	}
	if _, err := cluster.Host.RbacV1().Roles(s.ns).Create(t.Context(), &rbacv1.Role{ObjectMeta: meta, Rules: []rbacv1.PolicyRule{
		{APIGroups: []string{""}, Resources: []string{"pods"}, Verbs: []string{"get", "list", "watch", "patch"}},
		{APIGroups: []string{""}, Resources: []string{"pods/status"}, Verbs: []string{"get", "patch"}},
	}}, metav1.CreateOptions{}); err != nil {
		t.Fatalf("creating the role of agents: %v", err)
	}
	if _, err := cluster.Host.RbacV1().RoleBindings(s.ns).Create(t.Context(), &rbacv1.RoleBinding{
		ObjectMeta: meta,
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: agent},
		Subjects:   []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Name: agent, Namespace: s.ns}},
	}, metav1.CreateOptions{}); err != nil {
		t.Fatalf("binding the role of agents: %v", err)
	}
	s.create(t, replicas, func(made *v1.StatefulSet) {
		if change != nil {
			change(made)
		}
		pod := &made.Spec.Template.Spec
		pod.ServiceAccountName = agent
		pod.Containers = append(pod.Containers, corev1.Container{
			Name: agent, Image: "localhost/kubectl:dev", Command: []string{"/bin/sh", "-c", script},
			VolumeMounts: []corev1.VolumeMount{{Name: "data", MountPath: "/data"}},
		})
	})
	s.awaitReady(t, int64(replicas))
	return s
}
