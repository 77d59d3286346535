// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"cmp"
	"flag"
	"fmt"
	"slices"
	"strings"
)

// release is a minor version of Kubernetes that a cluster can run.
type release struct {
	minor int
	// module is the directory below modules that pins it.
	module string
	// gates enable the features of its StatefulSet that are not enabled by default.
	gates string
}

// releases returns the supported versions, oldest first. A new cluster gets the last one.
func releases() []release {
	return []release{
		{minor: 34, module: "kubernetes-1.34"},
		{minor: 35, module: "kubernetes-1.35"},
		{minor: 36, module: "kubernetes-1.36"},
		{minor: 37, module: "kubernetes", gates: "StatefulSetRecreateStrategy=true"},
	}
}

func newestRelease() release {
	all := releases()
	return all[len(all)-1]
}

func (r release) String() string { return fmt.Sprintf("1.%d", r.minor) }

// gateFlags returns no flag if the release needs no gate.
func (r release) gateFlags() []string {
	if r.gates == "" {
		return nil
	}
	return []string{"--feature-gates=" + r.gates}
}

func findRelease(name string) (release, bool) {
	all := releases()
	i := slices.IndexFunc(all, func(r release) bool { return r.String() == name })
	if i < 0 {
		return release{}, false
	}
	return all[i], true
}

func releaseNames() string {
	var names []string
	for _, r := range releases() {
		names = append(names, r.String())
	}
	return strings.Join(names, ", ")
}

func kubernetesFlag(fs *flag.FlagSet, otherwise string) *string {
	return fs.String("kubernetes", "", fmt.Sprintf("`version` of Kubernetes, one of %s (default: %s)", releaseNames(), otherwise))
}

// parseRelease parses the value of --kubernetes. Without a value, it returns the version of the
// existing cluster, and for a new cluster the newest version.
func parseRelease(given, current string) (release, error) {
	name := cmp.Or(given, current, newestRelease().String())
	r, ok := findRelease(name)
	if !ok && given == "" {
		return release{}, fmt.Errorf("the cluster was created with Kubernetes %s, which this program cannot run: it supports %s", current, releaseNames())
	}
	if !ok {
		return release{}, usageError{fmt.Sprintf("--kubernetes %q is not a supported version: want one of %s", given, releaseNames())}
	}
	return r, nil
}
