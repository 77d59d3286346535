//go:build faults

// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package ha

import (
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
	"sigs.k8s.io/yaml"

	"statefulset.dev/test/faults/store/load"
	"statefulset.dev/test/harness"
)

const (
	// seeds are sets that together have every field, as a test of theirs makes sure.
	seeds = "../../validation/seeds"
	// upgraded is a label that the later version writes, so that it has written every set.
	upgraded = "upgraded"
	// running is the set that has members.
	running = "runs"
	members = 3
)

// TestUpgrade replaces the replicas of an earlier version by those of this one, and then these by the
// earlier ones again, while clients go through the aggregator. PREVIOUS_SERVER is the earlier program.
func TestUpgrade(t *testing.T) {
	previous := os.Getenv("PREVIOUS_SERVER")
	if previous == "" {
		t.Skip("PREVIOUS_SERVER names no program of an earlier version; make test-upgrade builds one")
	}
	f := newFleet(t)
	current := f.program.Exe
	f.program.Exe = previous
	for range 3 {
		f.add()
	}
	kept := f.stock()
	f.changeUnderLoad(kept, current, previous)
	// Each version has controlled, and has not thought a pod out of date.
	f.become(current)
	kept.scale(t, members+1)
	f.become(previous)
	kept.scale(t, members)
	kept.mustStay(t, "after both have controlled")
}

// changeUnderLoad keeps controllers from running, so that clients alone write sets.
func (f *fleet) changeUnderLoad(kept *stock, current, previous string) {
	f.t.Helper()
	if err := load.Idle(f.t.Context(), f.lab.Host); err != nil {
		f.t.Fatal(err)
	}
	// One that controls learns only later that it has lost its lease.
	harness.Eventually(f.t, "no replica controls", func(ctx context.Context) error {
		for _, r := range f.replicas {
			if r.leads(ctx) {
				return fmt.Errorf("%s controls", r.name)
			}
		}
		return nil
	})
	f.underLoad("replica of another version", 2*len(f.replicas), func() time.Duration {
		took := f.become(current)
		kept.mustStay(f.t, "after the upgrade")
		kept.label(f.t)
		took = max(took, f.become(previous))
		kept.mustStay(f.t, "after the way back")
		return took
	})
}

// become replaces one replica after the other by one of another program, and returns how long one took
// to end at most.
func (f *fleet) become(program string) (took time.Duration) {
	f.t.Helper()
	for _, r := range f.replicas {
		if err := os.Remove(r.program.Exe); err != nil {
			f.t.Fatalf("naming another program %s: %v", r.name, err)
		}
		if err := os.Symlink(program, r.program.Exe); err != nil {
			f.t.Fatalf("naming another program %s: %v", r.name, err)
		}
		took = max(took, f.drain(r))
	}
	return took
}

// stock are sets that nobody writes while versions change, and pods of a set that runs.
type stock struct {
	sets  dynamic.ResourceInterface
	want  map[string]map[string]any
	ns    string
	pods  map[string]types.UID
	fleet *fleet
}

func (f *fleet) stock() *stock {
	f.t.Helper()
	ns, err := load.NewNamespace(f.t.Context(), f.lab.Host)
	if err != nil {
		f.t.Fatal(err)
	}
	client, err := dynamic.NewForConfig(f.lab.Config)
	if err != nil {
		f.t.Fatalf("creating a client: %v", err)
	}
	s := &stock{
		fleet: f, want: map[string]map[string]any{},
		sets: client.Resource(schema.GroupVersionResource{Group: "apps.statefulset.dev", Version: "v1", Resource: "statefulsets"}).Namespace(ns),
		ns:   ns,
	}
	files, err := filepath.Glob(filepath.Join(seeds, "*.yaml"))
	if err != nil || len(files) == 0 {
		f.t.Fatalf("looking for sets in %s: got %d and %v, want some", seeds, len(files), err)
	}
	for _, file := range files {
		s.create(strings.TrimSuffix(filepath.Base(file), ".yaml"), readSet(f.t, file), 0)
	}
	s.create(running, readSet(f.t, filepath.Join(seeds, "plain.yaml")), members)
	s.awaitReady(f.t, members)
	s.pods = s.uids(f.t)
	return s
}

func readSet(t *testing.T, file string) *unstructured.Unstructured {
	t.Helper()
	content, err := os.ReadFile(file)
	if err != nil {
		t.Fatalf("reading a set: %v", err)
	}
	set := &unstructured.Unstructured{}
	if err := yaml.UnmarshalStrict(content, &set.Object); err != nil {
		t.Fatalf("reading %s: %v", file, err)
	}
	return set
}

// create creates a set, and remembers it as it is served.
func (s *stock) create(name string, set *unstructured.Unstructured, replicas int64) {
	s.fleet.t.Helper()
	set.SetAPIVersion("apps.statefulset.dev/v1")
	set.SetKind("StatefulSet")
	set.SetName(name)
	set.SetNamespace("")
	if err := unstructured.SetNestedField(set.Object, replicas, "spec", "replicas"); err != nil {
		s.fleet.t.Fatalf("setting the replicas of %s: %v", name, err)
	}
	created, err := s.sets.Create(s.fleet.t.Context(), set, metav1.CreateOptions{})
	if err != nil {
		s.fleet.t.Fatalf("creating %s: %v", name, err)
	}
	s.want[name] = lasting(created)
}

// lasting is what no version may change by itself.
func lasting(set *unstructured.Unstructured) map[string]any {
	lasting := maps.Clone(set.Object)
	delete(lasting, "status")
	metadata := maps.Clone(lasting["metadata"].(map[string]any))
	for _, field := range []string{"resourceVersion", "managedFields"} {
		delete(metadata, field)
	}
	lasting["metadata"] = metadata
	return lasting
}

// mustStay looks that every set is as it was, and no pod was replaced.
func (s *stock) mustStay(t *testing.T, when string) {
	t.Helper()
	for name, want := range s.want {
		set, err := s.sets.Get(t.Context(), name, metav1.GetOptions{})
		if err != nil {
			t.Errorf("%s: reading %s: %v", when, name, err)
			continue
		}
		if got := lasting(set); !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %s: got %v, want %v", when, name, got, want)
		}
	}
	if got := s.uids(t); !maps.Equal(got, s.pods) {
		t.Errorf("%s: got pods %v, want %v", when, got, s.pods)
	}
}

// label has every set written once by the version that runs.
func (s *stock) label(t *testing.T) {
	t.Helper()
	for name := range s.want {
		set, err := s.sets.Patch(t.Context(), name, types.MergePatchType, []byte(`{"metadata":{"labels":{"`+upgraded+`":"yes"}}}`),
			metav1.PatchOptions{})
		if err != nil {
			t.Errorf("labelling %s: %v", name, err)
			continue
		}
		if err := unstructured.SetNestedField(s.want[name], "yes", "metadata", "labels", upgraded); err != nil {
			t.Fatalf("labelling %s: %v", name, err)
		}
		if got := lasting(set); !reflect.DeepEqual(got, s.want[name]) {
			t.Errorf("after a label: %s: got %v, want %v", name, got, s.want[name])
		}
	}
}

func (s *stock) awaitReady(t *testing.T, n int64) {
	t.Helper()
	harness.Eventually(t, fmt.Sprintf("%d members are there and ready", n), func(ctx context.Context) error {
		set, err := s.sets.Get(ctx, running, metav1.GetOptions{})
		if err != nil {
			return err
		}
		there, _, _ := unstructured.NestedInt64(set.Object, "status", "replicas")
		ready, _, _ := unstructured.NestedInt64(set.Object, "status", "readyReplicas")
		if there != n || ready != n {
			return fmt.Errorf("%d members are there, %d ready", there, ready)
		}
		return nil
	})
}

// scale has the controller do something that shows when it is done.
func (s *stock) scale(t *testing.T, n int64) {
	t.Helper()
	set, err := s.sets.Patch(t.Context(), running, types.MergePatchType, fmt.Appendf(nil, `{"spec":{"replicas":%d}}`, n),
		metav1.PatchOptions{})
	if err != nil {
		t.Fatalf("scaling: %v", err)
	}
	s.want[running] = lasting(set)
	s.awaitReady(t, n)
	got := s.uids(t)
	for name, uid := range s.pods {
		if got[name] != uid {
			t.Errorf("with %d members: pod %s: got UID %q, want %q", n, name, got[name], uid)
		}
	}
}

// uids are those of the pods, by their names.
func (s *stock) uids(t *testing.T) map[string]types.UID {
	t.Helper()
	pods, err := s.fleet.lab.Host.CoreV1().Pods(s.ns).List(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatalf("listing pods: %v", err)
	}
	uids := map[string]types.UID{}
	for _, pod := range pods.Items {
		uids[pod.Name] = pod.UID
	}
	return uids
}
