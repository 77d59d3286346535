//go:build nodes

// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package nodes

import (
	"fmt"
	"maps"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// TestAGaleraClusterLosesAMember writes to one member and reads from another while one is killed, when all were, and while
// the set is scaled to two and back.
func TestAGaleraClusterLosesAMember(t *testing.T) {
	forOurs(t, "a Galera of three keeps what is written while a member is killed, while all are, and while it is scaled to two and back", func(t *testing.T, k kind) {
		e := newExample(t, "sql", "services", "secrets")
		e.apply(t, "galera.yaml")
		e.awaitReady(t, 3)
		e.expectSQL(t, 1, "", "CREATE DATABASE IF NOT EXISTS d; CREATE TABLE IF NOT EXISTS d.rounds (n INT PRIMARY KEY)")
		e.expectRound(t, 1, 3)
		secrets := e.kept(t, "secrets")

		killed := e.pod(t, 1)
		if err := cluster.Host.CoreV1().Pods(e.ns).Delete(t.Context(), killed.Name, metav1.DeleteOptions{GracePeriodSeconds: new(int64(0))}); err != nil {
			t.Fatalf("killing member 1: %v", err)
		}
		e.expectSQL(t, 0, "", "INSERT IGNORE INTO d.rounds VALUES (100)")
		e.awaitReady(t, 3)
		e.expectSQL(t, 1, "100", "SELECT n FROM d.rounds WHERE n = 100")
		e.expectRound(t, 2, 3)

		all := []*corev1.Pod{e.pod(t, 0), e.pod(t, 1), e.pod(t, 2)}
		if err := cluster.Host.CoreV1().Pods(e.ns).DeleteCollection(t.Context(), metav1.DeleteOptions{GracePeriodSeconds: new(int64(0))}, metav1.ListOptions{LabelSelector: "app=sql"}); err != nil {
			t.Fatalf("killing all members: %v", err)
		}
		for ordinal, before := range all {
			e.awaitRecreated(t, ordinal, before)
		}
		e.awaitReady(t, 3)
		e.expectRound(t, 5, 3)

		e.scale(t, 2)
		e.expectRound(t, 3, 2)
		e.scale(t, 3)
		e.expectRound(t, 4, 3)
		e.expectSQL(t, 2, "1 2 3 4 5 100", "SELECT GROUP_CONCAT(n ORDER BY n SEPARATOR ' ') FROM d.rounds")
		if now := e.kept(t, "secrets"); len(now) != 1 || !maps.Equal(now, secrets) {
			t.Errorf("the Secrets are %v, and were %v", now, secrets)
		}
	})
}

// expectRound wants all members to be in one cluster that can write, and each to read what another one has written.
func (e *exampleSet) expectRound(t *testing.T, round, members int) {
	t.Helper()
	e.expectSQL(t, round%members, "", fmt.Sprintf("INSERT IGNORE INTO d.rounds VALUES (%d)", round))
	for ordinal := range members {
		e.expectSQL(t, ordinal, fmt.Sprintf("%d Primary", members), `SELECT GROUP_CONCAT(variable_value ORDER BY variable_name SEPARATOR ' ')
			FROM information_schema.global_status WHERE variable_name IN ('wsrep_cluster_size', 'wsrep_cluster_status')`)
		e.expectSQL(t, ordinal, fmt.Sprint(round), fmt.Sprintf("SET SESSION wsrep_sync_wait = 1; SELECT n FROM d.rounds WHERE n = %d", round))
	}
}

// expectSQL has a member asked by root, until it answers as wanted.
func (e *exampleSet) expectSQL(t *testing.T, ordinal int, want, statement string) {
	t.Helper()
	e.expect(t, ordinal, want, "mariadb", "--no-defaults", "-S", "/tmp/mysqld.sock", "-u", "root", "-BNe", statement)
}
