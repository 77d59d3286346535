// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package harness

import (
	"encoding/json"
	"os"
	"testing"
)

// State is the state that a cluster records about itself.
type State struct {
	Ports     map[string]int       `json:"ports"`
	Processes map[string]Component `json:"processes"`
}

// Component is a process of a cluster, and how it was started.
type Component struct {
	PID        int      `json:"pid"`
	StartTicks uint64   `json:"startTicks"`
	Exe        string   `json:"exe"`
	Args       []string `json:"args"`
}

// State reads the current state.
func (c *Cluster) State(t testing.TB) State {
	t.Helper()
	raw, err := os.ReadFile(c.Path("state.json"))
	if err != nil {
		t.Fatalf("reading the cluster's state: %v", err)
	}
	var state State
	if err := json.Unmarshal(raw, &state); err != nil {
		t.Fatalf("decoding the cluster's state: %v", err)
	}
	return state
}

// Component returns the current process of a component, such as "kube-apiserver".
func (c *Cluster) Component(t testing.TB, name string) Component {
	t.Helper()
	component, ok := c.State(t).Processes[name]
	if !ok || component.PID <= 0 {
		t.Fatalf("the cluster in %s has no %s", c.Dir, name)
	}
	return component
}
