// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package apiserver

import (
	"errors"

	"github.com/spf13/pflag"
	cliflag "k8s.io/component-base/cli/flag"
)

// StoreFlags are those flags of the server that lead to its store and, if host is
// true, to its host cluster, in sections for a help text.
func (o *Options) StoreFlags(host bool) cliflag.NamedFlagSets {
	all := o.Flags()
	var sections cliflag.NamedFlagSets
	sections.FlagSet("storage").AddFlagSet(all.FlagSet("storage"))
	if host {
		addFlagsExcept(sections.FlagSet("host cluster"), func(to *pflag.FlagSet) { to.AddFlagSet(all.FlagSet("host cluster")) }, "preflight")
	}
	return sections
}

// ValidateStore says what is wrong with the values of StoreFlags, naming the flags.
func (o *Options) ValidateStore() error {
	return errors.Join(append(o.Storage.Validate(), o.validateHost()...)...)
}
