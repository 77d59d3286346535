//go:build nodes

// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package nodes

import (
	"context"
	"fmt"
	"maps"
	"strconv"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"statefulset.dev/test/harness"
)

// TestAGaleraClusterLosesAMember writes to one member and reads from another while one is killed, when all were, when one has
// lost its disk besides, and while the set is scaled to two and back.
func TestAGaleraClusterLosesAMember(t *testing.T) {
	forOurs(t, "a Galera of three keeps what is written while a member is killed, while all are and one loses its disk, and while it is scaled to two and back", func(t *testing.T, k kind) {
		e := newExample(t, "sql", "services", "secrets")
		e.apply(t, "galera.yaml")
		e.awaitReady(t, 3)
		e.expectSQL(t, 1, "", "CREATE DATABASE IF NOT EXISTS d; CREATE TABLE IF NOT EXISTS d.rounds (n INT PRIMARY KEY)")
		e.expectRound(t, 1, 3)
		secrets := e.kept(t, "secrets")

		killed := e.pod(t, 1)
		if err := cluster.Host.CoreV1().Pods(e.ns).Delete(t.Context(), killed.Name,
			metav1.DeleteOptions{GracePeriodSeconds: new(int64(0))}); err != nil {
			t.Fatalf("killing member 1: %v", err)
		}
		e.expectSQL(t, 0, "", "INSERT IGNORE INTO d.rounds VALUES (100)")
		e.awaitReady(t, 3)
		e.expectSQL(t, 1, "100", "SELECT n FROM d.rounds WHERE n = 100")
		e.expectRound(t, 2, 3)

		e.killAll(t)
		e.awaitReady(t, 3)
		e.expectRound(t, 5, 3)

		if err := cluster.Host.CoreV1().PersistentVolumeClaims(e.ns).Delete(t.Context(), "data-sql-0", metav1.DeleteOptions{}); err != nil {
			t.Fatalf("deleting the claim of member 0: %v", err)
		}
		e.killAll(t)
		e.beginWithMost(t)
		e.awaitReady(t, 3)
		e.expectRound(t, 6, 3)

		e.scale(t, 2)
		e.expectRound(t, 3, 2)
		e.scale(t, 3)
		e.expectRound(t, 4, 3)
		e.expectSQL(t, 2, "1 2 3 4 5 6 100", "SELECT GROUP_CONCAT(n ORDER BY n SEPARATOR ' ') FROM d.rounds")
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

// killAll kills all members, and waits until there are others.
func (e *exampleSet) killAll(t *testing.T) {
	t.Helper()
	all := []*corev1.Pod{e.pod(t, 0), e.pod(t, 1), e.pod(t, 2)}
	if err := cluster.Host.CoreV1().Pods(e.ns).DeleteCollection(t.Context(), metav1.DeleteOptions{GracePeriodSeconds: new(int64(0))},
		metav1.ListOptions{LabelSelector: "app=sql"}); err != nil {
		t.Fatalf("killing all members: %v", err)
	}
	for ordinal, before := range all {
		e.awaitRecreated(t, ordinal, before)
	}
}

// beginWithMost has the member begin that has most, as the page of the example says, when all wait because
// a disk is new. Nobody waits if one of the others was the last to leave, and had the time to note that.
func (e *exampleSet) beginWithMost(t *testing.T) {
	t.Helper()
	harness.Eventually(t, "members wait because a disk is new, or are ready", func(ctx context.Context) error {
		if !readySince(e.pod(t, 1)).IsZero() {
			return nil
		}
		said, err := kubectl(ctx, "logs", "sql-1", "-n", e.ns).Output()
		if err != nil {
			return fmt.Errorf("reading what member 1 says: %w", err)
		}
		if !strings.Contains(string(said), "sql-1 waits: none runs, and not all have data of one cluster: new 0,") {
			return fmt.Errorf("member 1 says %q", said)
		}
		most, err := e.run(ctx, 1, "sh", "-c", "sort -k 1,1nr /tmp/said | head -n 1 | cut -d ' ' -f 3")
		if err != nil {
			return err
		}
		ordinal, err := strconv.Atoi(most)
		if err != nil {
			return fmt.Errorf("reading which member has most: %w", err)
		}
		_, err = e.run(ctx, ordinal, "sed", "-i", "s/^safe_to_bootstrap:.*/safe_to_bootstrap: 1/", "/var/lib/mysql/data/grastate.dat")
		return err
	})
}
