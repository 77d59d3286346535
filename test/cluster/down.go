// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"io"
	"os"
)

func runDown(ctx context.Context, args []string, out io.Writer) error {
	fs := newFlags("down", "[--dir DIR] [--purge]", out)
	dir := dirFlag(fs)
	purge := fs.Bool("purge", false, "also delete the cluster's data, certificates and logs")
	if err := parse(fs, args); err != nil {
		return err
	}
	target, err := absolute("dir", *dir)
	if err != nil {
		return err
	}
	if _, err := os.Stat(target); os.IsNotExist(err) {
		fmt.Fprintf(out, "there is no cluster in %s\n", target)
		return nil
	}
	unlock, err := lockDir(target)
	if err != nil {
		return err
	}
	defer unlock()
	s, err := newSupervisor(target, out)
	if err != nil {
		return err
	}
	if len(s.state.Processes) == 0 {
		fmt.Fprintf(out, "the cluster in %s is not running\n", target)
	}
	if err := s.dismantle(ctx); err != nil {
		return err
	}
	if *purge {
		return s.purge()
	}
	return nil
}

// purge deletes what the commands created. If the directory contains anything else, that and the
// directory stay.
func (s *supervisor) purge() error {
	created := []string{
		"pki", "pki.partial", "nodes", "kubeconfigs", "config", "logs", "etcd", "registration", "statefulset-data",
		"kubeconfig", "kubectl", "state.json", "lock",
	}
	for _, name := range created {
		if err := os.RemoveAll(s.path(name)); err != nil {
			return fmt.Errorf("purging: %w", err)
		}
	}
	left, err := os.ReadDir(s.dir)
	if err != nil {
		return fmt.Errorf("purging: %w", err)
	}
	if len(left) > 0 {
		fmt.Fprintf(s.out, "purged the cluster; %s stays, because it contains %d other entries\n", s.dir, len(left))
		return nil
	}
	if err := os.Remove(s.dir); err != nil {
		return fmt.Errorf("purging: %w", err)
	}
	fmt.Fprintf(s.out, "purged %s\n", s.dir)
	return nil
}
