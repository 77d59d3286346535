//go:build nodes

// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package servers

import (
	"context"
	"fmt"
	"strconv"
	"sync"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"statefulset.dev/test/harness"
)

const (
	writers = 4
	numbers = "example.test/number"
	// requestPause is between two requests of a writer.
	requestPause = 20 * time.Millisecond
	rollout      = "--timeout=4m"
)

// TestServersAreReplacedUnderLoad updates the Deployment, as an upgrade does.
func TestServersAreReplacedUnderLoad(t *testing.T) {
	underLoad(t, func() {
		cluster.MustKubectl(t, "", "-n", system, "rollout", "restart", "deployment/statefulset-apiserver")
		cluster.MustKubectl(t, "", "-n", system, "rollout", "status", "deployment/statefulset-apiserver", rollout)
	})
}

// TestANodeIsDrainedUnderLoad moves a server away, and stops a member of the store, whose disk
// belongs to the node.
func TestANodeIsDrainedUnderLoad(t *testing.T) {
	underLoad(t, func() {
		drained := leader(t).Spec.NodeName
		t.Cleanup(func() {
			if _, _, err := cluster.Kubectl(context.WithoutCancel(t.Context()), "", "uncordon", drained); err != nil {
				t.Errorf("taking node %s back: %v", drained, err)
			}
		})
		cluster.MustKubectl(t, "", "drain", drained, "--ignore-daemonsets", "--delete-emptydir-data", "--force", rollout)
		cluster.MustKubectl(t, "", "uncordon", drained)
	})
}

// underLoad has writers count, each in a set of its own, through the cluster. A client repeats what
// it is told to repeat, and nothing else; what was acknowledged has to be there in the end.
func underLoad(t *testing.T, change func()) {
	t.Helper()
	awaitServers(t)
	namespace := cluster.Namespace(t, "servers")
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	counts := make([]counter, writers)
	var running sync.WaitGroup
	for i := range counts {
		counts[i].name = fmt.Sprintf("counted-%d", i)
		set := harness.NewSet(counts[i].name, 0)
		if _, err := cluster.Sets.AppsV1().StatefulSets(namespace).Create(t.Context(), set, metav1.CreateOptions{}); err != nil {
			t.Fatalf("creating a set: %v", err)
		}
		running.Go(func() { counts[i].count(ctx, namespace) })
	}
	change()
	awaitServers(t)
	cancel()
	running.Wait()
	requests := 0
	for _, c := range counts {
		requests += c.requests
		for _, err := range c.failed {
			t.Errorf("%s: a request failed, want none to: %v", c.name, err)
		}
		set, err := cluster.Sets.AppsV1().StatefulSets(namespace).Get(t.Context(), c.name, metav1.GetOptions{})
		if err != nil {
			t.Fatalf("getting set %s: %v", c.name, err)
		}
		// The last write may have been made and not been answered.
		if got, _ := strconv.Atoi(set.Annotations[numbers]); got != c.acknowledged && got != c.acknowledged+1 {
			t.Errorf("%s: got number %d, want %d, the last one that was acknowledged", c.name, got, c.acknowledged)
		}
	}
	t.Logf("%d requests", requests)
}

type counter struct {
	name                   string
	requests, acknowledged int
	failed                 []error
}

func (c *counter) count(ctx context.Context, namespace string) {
	sets := cluster.Sets.AppsV1().StatefulSets(namespace)
	for ctx.Err() == nil {
		patch := fmt.Sprintf(`{"metadata":{"annotations":{%q:"%d"}}}`, numbers, c.acknowledged+1)
		_, err := sets.Patch(ctx, c.name, types.MergePatchType, []byte(patch), metav1.PatchOptions{})
		if err == nil {
			c.acknowledged++
			_, err = sets.Get(ctx, c.name, metav1.GetOptions{})
		}
		if c.requests++; err != nil && ctx.Err() == nil {
			c.failed = append(c.failed, err)
		}
		select {
		case <-ctx.Done():
		case <-time.After(requestPause):
		}
	}
}
