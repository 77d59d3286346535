// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package apiserver

import (
	"errors"
	"slices"

	"github.com/spf13/pflag"
	cliflag "k8s.io/component-base/cli/flag"
)

// unservedServerFlags choose between versions of an API; ours has one.
func unservedServerFlags() []string {
	return []string{
		"emulation-forward-compatible",
		"runtime-config-emulation-forward-compatible",
	}
}

// unservedFeatureFlags would serve profiles on a socket without asking who reads them;
// with --profiling they are served to whom the host permits /debug/pprof.
func unservedFeatureFlags() []string { return []string{"debug-socket-path"} }

// addFlagsExcept adds the flags of one option group, without those named.
func addFlagsExcept(to *pflag.FlagSet, addFlags func(*pflag.FlagSet), names ...string) {
	all := pflag.NewFlagSet("", pflag.ContinueOnError)
	addFlags(all)
	all.VisitAll(func(f *pflag.Flag) {
		if !slices.Contains(names, f.Name) {
			to.AddFlag(f)
		}
	})
}

// StoreFlags are those flags of the server that lead to its store and, if host is
// true, to its host cluster, in sections for a help text.
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

// ValidateStore says what is wrong with the values of StoreFlags, naming the flags.
func (o *Options) ValidateStore() error {
	return errors.Join(append(o.Storage.Validate(), o.validateHost()...)...)
}
