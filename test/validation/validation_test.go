//go:build validation

// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package validation

import (
	"context"
	"fmt"
	"maps"
	"sync"
	"testing"

	"k8s.io/apimachinery/pkg/runtime"
)

// atOnce is how many manifests are asked about at the same time.
const atOnce = 8

// leastManifests is how many a corpus must have to be worth its name.
const leastManifests = 400

// request asks one side about a set.
type request func(s side, ctx context.Context, set map[string]any) (answer, error)

// TestParity asks both sides about every manifest, and prints the sum.
func TestParity(t *testing.T) {
	both, seeds, explanations := open(t), readSeeds(t), readExplanations(t)
	creates, updates := toCreate(t, seeds), toUpdate(t, both, seeds)
	found := both.ask(t, creates, side.create)
	maps.Copy(found, both.ask(t, updates, side.update))

	explained, open := 0, 0
	for _, name := range keysOf(found, nil) {
		rest := unexplained(explanations, name, found[name])
		open += len(rest)
		explained += len(found[name]) - len(rest)
		for _, d := range rest {
			t.Errorf("%s: %s", name, d)
		}
	}
	for _, e := range explanations {
		if !e.used {
			t.Errorf("stale difference: %s: %s does not occur any more; take it out of differences.yaml (reason given: %s)", e.Case, e.What,
				e.Reason)
		}
	}
	if total := len(creates) + len(updates); total < leastManifests {
		t.Errorf("got %d manifests, want at least %d", total, leastManifests)
	}
	fmt.Printf("%d manifests (%d created, %d updated), %d explained differences, %d unexplained\n",
		len(creates)+len(updates), len(creates), len(updates), explained, open)
}

// toCreate are the sets that are tried as new ones. No two have the same name.
func toCreate(t *testing.T, seeds map[string]map[string]any) []manifest {
	t.Helper()
	all := readWritten(t, "create.yaml", seeds)
	for _, name := range keysOf(seeds, nil) {
		all = append(all, manifest{name: name + ": as it is", object: seeds[name]})
		all = append(all, mutants(name, seeds[name])...)
	}
	return all
}

// toUpdate are the sets that are tried in the place of their seed, which is stored
// on both sides, without members.
func toUpdate(t *testing.T, both sides, seeds map[string]map[string]any) []manifest {
	t.Helper()
	live := map[string]map[string]any{}
	for _, name := range keysOf(seeds, nil) {
		set := runtime.DeepCopyJSON(seeds[name])
		set["metadata"].(map[string]any)["name"] = name
		set["spec"].(map[string]any)["replicas"] = int64(0)
		for _, s := range []side{both.builtin, both.ours} {
			if got, err := s.store(t.Context(), set); err != nil || got.object == nil {
				t.Fatalf("storing seed %s as %s: got %s and %v, want it to be accepted", name, s.apiVersion, got, err)
			}
		}
		live[name] = set
	}
	all := readWritten(t, "update.yaml", live)
	for _, name := range keysOf(live, nil) {
		all = append(all, updates(mutants(name, live[name]))...)
	}
	for i := range all {
		all[i].name = "update: " + all[i].name
	}
	return all
}

// ask makes the request for every manifest on both sides, and returns what differs,
// by the names of the manifests.
func (b sides) ask(t *testing.T, manifests []manifest, ask request) map[string][]difference {
	t.Helper()
	var mu sync.Mutex
	found := map[string][]difference{}
	slots := make(chan struct{}, atOnce)
	var running sync.WaitGroup
	for _, m := range manifests {
		slots <- struct{}{}
		running.Go(func() {
			defer func() { <-slots }()
			differences, err := b.askOne(t.Context(), m, ask)
			mu.Lock()
			defer mu.Unlock()
			if err != nil {
				t.Errorf("%s: %v", m.name, err)
			}
			if _, twice := found[m.name]; twice {
				t.Errorf("two manifests are named %q", m.name)
			}
			found[m.name] = differences
		})
	}
	running.Wait()
	return found
}

func (b sides) askOne(ctx context.Context, m manifest, ask request) ([]difference, error) {
	builtin, err := ask(b.builtin, ctx, m.object)
	if err != nil {
		return nil, err
	}
	ours, err := ask(b.ours, ctx, m.object)
	if err != nil {
		return nil, err
	}
	return compare(builtin, ours), nil
}
