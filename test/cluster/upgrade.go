// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import "fmt"

// releaseFor returns the version with which to start a cluster directory. A version that has
// written to its etcd is the lowest that certainly can read it.
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
			fmt.Errorf("the cluster in %s has run Kubernetes %s, and %s may not be able to read what that stored: use another --dir, or run cluster down --purge first",
				dir, there, wanted)
	}
	return wanted, nil
}

// upgrade stops the parts of Kubernetes that have another version than the requested one. The newer
// parts are then started with the same etcd. Everything else continues to run, as in an upgrade of
// an ordinary cluster.
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
