// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// state is what the commands remember about a cluster directory between runs.
type state struct {
	// Ports maps a listener's name to its port, so that a restart uses the same address.
	Ports map[string]int `json:"ports"`
	// PortOffset is how far above the default ports this cluster chooses its own.
	PortOffset int `json:"portOffset,omitempty"`
	// Processes maps a component's name to its process. A component that was stopped on purpose has
	// none.
	Processes map[string]process `json:"processes"`
	// Kubernetes is the version that has written to this cluster's etcd, such as 1.37; empty before
	// the first start.
	Kubernetes string `json:"kubernetes,omitempty"`
	// Network is the network of real nodes, nil for a cluster of fake nodes.
	Network *network `json:"network,omitempty"`

	path string
}

func loadState(dir string) (*state, error) {
	s := &state{path: filepath.Join(dir, "state.json")}
	raw, err := os.ReadFile(s.path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("reading the cluster's state: %w", err)
	}
	if err == nil {
		if err := json.Unmarshal(raw, s); err != nil {
			return nil, fmt.Errorf("reading the cluster's state in %s: %w", s.path, err)
		}
	}
	if s.Ports == nil {
		s.Ports = map[string]int{}
	}
	if s.Processes == nil {
		s.Processes = map[string]process{}
	}
	return s, nil
}

func (s *state) save() error {
	raw, err := json.MarshalIndent(s, "", "  ")
	if err != nil {
		return fmt.Errorf("encoding the cluster's state: %w", err)
	}
	return writeFile(s.path, append(raw, '\n'))
}

// setProcess records the process of a component on disk before anything else happens to it.
func (s *state) setProcess(name string, p process) error {
	s.Processes[name] = p
	return s.save()
}

func (s *state) forget(name string) error {
	delete(s.Processes, name)
	return s.save()
}

// writeFile replaces path in one step, so that a reader or an interrupt never sees a partial file.
func writeFile(path string, data []byte) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	partial := path + ".partial"
	if err := os.WriteFile(partial, data, 0o600); err != nil {
		return err
	}
	return os.Rename(partial, path)
}
