// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package apiserver

import (
	"slices"

	"github.com/spf13/pflag"
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
