// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import "fmt"

// releaseFor is the version that a cluster directory is to be started with. A version that has written to its etcd is the
// lowest that can be sure to read it.
func releaseFor(dir, given string) (release, error) {
	s, err := loadState(dir)
	if err != nil {
		return release{}, err
	}
	wanted, err := parseRelease(given, s.Kubernetes)
	if err != nil {
		return release{}, err
	}
	if there, ok := findRelease(s.Kubernetes); ok && wanted.minor < there.minor {
		return release{},
			fmt.Errorf("the cluster in %s has been run with Kubernetes %s, and %s may not be able to read what it stored: give another --dir, or run cluster down --purge first",
				dir, there, wanted)
	}
	return wanted, nil
}

// upgrade stops the parts of Kubernetes that are of another version than the wanted one, the newer of which are then started on
// the same etcd. What else runs, stays: it meets the upgrade as it would on an ordinary cluster.
func (s *supervisor) upgrade() error {
	was := s.state.Kubernetes
	if was == s.kubernetes.String() {
		return nil
	}
	if was != "" {
		fmt.Fprintf(s.out, "upgrading the cluster in %s from Kubernetes %s to %s\n", s.dir, was, s.kubernetes)
		for _, name := range []string{schedulerName, kcmName, apiserverName} {
			if err := s.stop(name); err != nil {
				return err
			}
		}
	}
	s.state.Kubernetes = s.kubernetes.String()
	return s.state.save()
}
