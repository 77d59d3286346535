// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
)

const (
	cgroupRoot = "/sys/fs/cgroup"
	// systemGroup contains the programs of a node, next to the groups of its pods.
	systemGroup = "system"
)

// controlGroup is the path of a group below the root of each hierarchy. Everything that runs on a
// node is in one group, so that it can be found.
type controlGroup string

// hierarchies returns the hierarchies of version 1, and one of version 2 next to them if it exists,
// or only the hierarchy of version 2.
func hierarchies() ([]string, error) {
	if isThere(filepath.Join(cgroupRoot, "cgroup.controllers")) {
		return []string{cgroupRoot}, nil
	}
	mounted, err := os.ReadDir(cgroupRoot)
	if err != nil {
		return nil, fmt.Errorf("finding control groups: %w", err)
	}
	var found []string
	for _, m := range mounted {
		// A link to a hierarchy, such as cpu to cpu,cpuacct, is not another one.
		if dir := filepath.Join(cgroupRoot, m.Name()); m.IsDir() && isThere(filepath.Join(dir, "cgroup.procs")) {
			found = append(found, dir)
		}
	}
	if len(found) == 0 {
		return nil, fmt.Errorf("no control groups are mounted at %s", cgroupRoot)
	}
	return found, nil
}

// create creates the group, and the group for programs in it.
func (g controlGroup) create() error {
	all, err := hierarchies()
	if err != nil {
		return err
	}
	for _, h := range all {
		path := h
		for part := range strings.SplitSeq(filepath.Join(string(g), systemGroup), "/") {
			parent := path
			path = filepath.Join(path, part)
			if err := makeGroup(parent, path); err != nil {
				return fmt.Errorf("creating control group %s: %w", path, err)
			}
		}
	}
	return nil
}

// makeGroup creates one group that can be used at once: in version 1, a group may use no processor
// before they are assigned to it; in version 2, a group has no limits before its parent enables
// controllers.
func makeGroup(parent, path string) error {
	if err := os.Mkdir(path, 0o755); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	for _, name := range []string{"cpuset.cpus", "cpuset.mems"} {
		value, err := os.ReadFile(filepath.Join(parent, name))
		if err != nil || isThere(filepath.Join(path, "cgroup.controllers")) {
			continue
		}
		if err := os.WriteFile(filepath.Join(path, name), value, 0o600); err != nil {
			return err
		}
	}
	controllers, err := os.ReadFile(filepath.Join(parent, "cgroup.controllers"))
	if err != nil {
		return nil // version 1 has none
	}
	for c := range strings.FieldsSeq(string(controllers)) {
		if err := os.WriteFile(filepath.Join(parent, "cgroup.subtree_control"), []byte("+"+c), 0o600); err != nil {
			return err
		}
	}
	return nil
}

// add moves a process into the group for programs. Processes that it starts are in the group too.
func (g controlGroup) add(pid int) error {
	if g == "" {
		return nil
	}
	all, err := hierarchies()
	if err != nil {
		return err
	}
	for _, h := range all {
		file := filepath.Join(h, string(g), systemGroup, "cgroup.procs")
		if err := os.WriteFile(file, []byte(strconv.Itoa(pid)), 0o600); err != nil {
			return fmt.Errorf("moving process %d into a control group: %w", pid, err)
		}
	}
	return nil
}

// kill kills all processes in the group at once, like a machine that loses its power.
func (g controlGroup) kill() error {
	for deadline := time.Now().Add(killWait); ; time.Sleep(stopPoll) {
		pids, err := g.pids()
		if err != nil || len(pids) == 0 {
			return err
		}
		if time.Now().After(deadline) {
			return fmt.Errorf("control group %s: processes %v are still running after SIGKILL", g, pids)
		}
		for _, pid := range pids {
			if err := syscall.Kill(pid, syscall.SIGKILL); err != nil && !errors.Is(err, syscall.ESRCH) {
				return fmt.Errorf("killing process %d: %w", pid, err)
			}
		}
	}
}

// pids returns the processes in the group, none if the group does not exist.
func (g controlGroup) pids() ([]int, error) {
	all, err := hierarchies()
	if err != nil {
		return nil, err
	}
	var pids []int
	for _, h := range all {
		for _, dir := range subgroups(filepath.Join(h, string(g))) {
			raw, err := os.ReadFile(filepath.Join(dir, "cgroup.procs"))
			if err != nil && !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, syscall.ENODEV) {
				return nil, fmt.Errorf("reading the processes in control group %s: %w", g, err)
			}
			for field := range strings.FieldsSeq(string(raw)) {
				if pid, err := strconv.Atoi(field); err == nil && pid > 0 {
					pids = append(pids, pid)
				}
			}
		}
	}
	slices.Sort(pids)
	return slices.Compact(pids), nil
}

// remove removes the group. It must be empty.
func (g controlGroup) remove() error {
	all, err := hierarchies()
	if err != nil {
		return err
	}
	var failed []error
	for _, h := range all {
		for _, dir := range slices.Backward(subgroups(filepath.Join(h, string(g)))) {
			if err := os.Remove(dir); err != nil && !errors.Is(err, fs.ErrNotExist) {
				failed = append(failed, fmt.Errorf("removing a control group: %w", err))
			}
		}
	}
	return errors.Join(failed...)
}

// subgroups returns a group and all groups in it, parents first. It omits groups that vanish
// meanwhile.
func subgroups(root string) []string {
	var dirs []string
	_ = filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.IsDir() {
			dirs = append(dirs, path)
		}
		return nil
	})
	return dirs
}
