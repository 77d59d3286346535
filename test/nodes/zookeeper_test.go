//go:build nodes

// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package nodes

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"statefulset.dev/test/harness"
)

// TestAZooKeeperIsScaled writes to an ensemble of three, brings it to five and back, one member at a time, and
// reads from each member what was written before, at the member's own address.
func TestAZooKeeperIsScaled(t *testing.T) {
	forOurs(t, "a ZooKeeper of three is scaled to five and back, and every member has what was written", func(t *testing.T, k kind) {
		e := newExample(t, "zk", "services", "configmaps")
		e.apply(t, "zookeeper.yaml")
		e.awaitReady(t, 3)
		addresses := e.kept(t, "services")
		sizes := []int{3, 4, 5, 4, 3}
		for round, size := range sizes {
			if round > 0 {
				e.labelLeader(t, sizes[round-1])
			}
			e.patch(t, fmt.Sprintf(`{"spec":{"replicas":%d,"identity":{"values":{"SIZE":"%d"}}}}`, size, size))
			e.awaitReady(t, int32(size))
			e.expectServers(t, size)
			e.write(t, fmt.Sprintf("/round-%d", round), fmt.Sprintf("written in round %d", round))
			for ordinal := range size {
				e.zookeeper(t, ordinal, fmt.Sprintf("written in round %d", round), "get", fmt.Sprintf("/round-%d", round))
			}
		}
		for round := range sizes {
			e.zookeeper(t, 2, fmt.Sprintf("written in round %d", round), "get", fmt.Sprintf("/round-%d", round))
		}
		now := e.kept(t, "services")
		if len(now) != 6 {
			t.Errorf("the set has made %v, want the Service of all, and one for each of five members", now)
		}
		for name, uid := range addresses {
			if now[name] != uid {
				t.Errorf("Service %s is %s, and was %s", name, now[name], uid)
			}
		}
		if confs := e.kept(t, "configmaps"); len(confs) != 3 {
			t.Errorf("the set has made %v, want a configuration of 3, of 4 and of 5 servers", confs)
		}
	})
}

// expectServers wants each member to have its number and the list, and to follow the one that leads.
func (e *exampleSet) expectServers(t *testing.T, size int) {
	t.Helper()
	for ordinal := range size {
		e.expect(t, ordinal, fmt.Sprint(ordinal+1), "cat", "/data/myid")
		e.expect(t, ordinal, fmt.Sprint(size), "sh", "-c", "grep -c ^server /etc/zk/zoo.cfg")
	}
	e.leader(t, size)
}

// labelLeader gives the pod of the member that leads the label by which an update takes it last, as the page says.
func (e *exampleSet) labelLeader(t *testing.T, size int) {
	t.Helper()
	cluster.MustKubectl(t, "", "label", "pods", "-n", e.ns, "-l", "app=zk", "role-")
	cluster.MustKubectl(t, "", "label", "pod", fmt.Sprintf("zk-%d", e.leader(t, size)), "-n", e.ns, "role=leader")
}

// leader is the ordinal of the member that leads, when all others follow.
func (e *exampleSet) leader(t *testing.T, size int) (leads int) {
	t.Helper()
	harness.Eventually(t, "one member leads, and all others follow", func(ctx context.Context) error {
		modes := map[string]int{}
		for ordinal := range size {
			mode, err := e.run(ctx, ordinal, "sh", "-c", `echo srvr | nc 127.0.0.1 2181 | grep "^Mode: "`)
			if err != nil {
				return err
			}
			if modes[mode]++; mode == "Mode: leader" {
				leads = ordinal
			}
		}
		if modes["Mode: leader"] != 1 || modes["Mode: follower"] != size-1 {
			return fmt.Errorf("they say %v", modes)
		}
		return nil
	})
	return leads
}

// write has the first member asked to keep a value, until it has.
func (e *exampleSet) write(t *testing.T, path, value string) {
	t.Helper()
	harness.Eventually(t, path+" is written", func(ctx context.Context) error {
		_, err := e.run(ctx, 0, "zkCli.sh", "-server", "127.0.0.1:2181", "create", path, value)
		if err != nil && strings.Contains(err.Error(), "Node already exists") {
			return nil
		}
		return err
	})
}

// zookeeper has a member asked at its own address, from beside the first, until one line of the answer is as wanted.
func (e *exampleSet) zookeeper(t *testing.T, ordinal int, want string, command ...string) {
	t.Helper()
	harness.Eventually(t, fmt.Sprintf("member %d answers %q with %q", ordinal, strings.Join(command, " "), want),
		func(ctx context.Context) error {
			address := fmt.Sprintf("zk-%d-client:2181", ordinal)
			said, err := e.run(ctx, 0, append([]string{"zkCli.sh", "-server", address}, command...)...)
			if err == nil && !slices.Contains(strings.Split(said, "\n"), want) {
				err = fmt.Errorf("it says %q", said)
			}
			return err
		})
}
