// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package apiserver

import (
	"errors"
	"slices"

	"github.com/spf13/pflag"
	cliflag "k8s.io/component-base/cli/flag"
)

// unservedServerFlags returns flags that choose between versions of an API; this API has one.
func unservedServerFlags() []string {
	return []string{
		"emulation-forward-compatible",
		"runtime-config-emulation-forward-compatible",
	}
}

// unservedFeatureFlags returns flags that would serve profiles on a socket without authorization.
// With --profiling, the server serves them to users who have the right to /debug/pprof in the host
// cluster.
func unservedFeatureFlags() []string { return []string{"debug-socket-path"} }

// addFlagsExcept adds the flags of one option group, except the named ones.
func addFlagsExcept(to *pflag.FlagSet, addFlags func(*pflag.FlagSet), names ...string) {
	all := pflag.NewFlagSet("", pflag.ContinueOnError)
	addFlags(all)
	all.VisitAll(func(f *pflag.Flag) {
		if !slices.Contains(names, f.Name) {
			to.AddFlag(f)
		}
	})
}

// StoreFlags returns the flags of the server that select its store and, if host is true, its host
// cluster, in sections for a help text.
func (o *Options) StoreFlags(host bool) cliflag.NamedFlagSets {
	all := o.Flags()
	var sections cliflag.NamedFlagSets
	sections.FlagSet("storage").AddFlagSet(all.FlagSet("storage"))
	if host {
		addFlagsExcept(sections.FlagSet("host cluster"), func(to *pflag.FlagSet) { to.AddFlagSet(all.FlagSet("host cluster")) }, "preflight",
			objectNamespacesFlag)
	}
	return sections
}

// ValidateStore returns what is wrong with the values of StoreFlags, naming the flags.
func (o *Options) ValidateStore() error {
	return errors.Join(append(o.Storage.Validate(), o.validateHost()...)...)
}
