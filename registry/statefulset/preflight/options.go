// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package preflight

import (
	"fmt"
	"slices"

	"github.com/spf13/pflag"
	"k8s.io/client-go/rest"
)

// What is done with a set whose template or claims the host finds invalid: it is
// refused, or accepted with a warning; or the host is not asked.
const (
	enforce = "enforce"
	warn    = "warn"
	off     = "off"
)

// defaultIdentity is the account of the manifests that may create what is tried,
// in dry runs only.
const defaultIdentity = "system:serviceaccount:statefulset-system:statefulset-preflight"

// Options say what is done with a set whose pods or claims the host finds invalid.
type Options struct {
	// Mode is "enforce", "warn" or "off".
	Mode string
	// Identity is the user of the host in whose name dry runs are asked for,
	// empty for this server itself.
	Identity string
}

// NewOptions are the defaults.
func NewOptions() *Options {
	return &Options{Mode: enforce, Identity: defaultIdentity}
}

// AddFlags adds all flags.
func (o *Options) AddFlags(flags *pflag.FlagSet) {
	flags.StringVar(&o.Mode, "preflight", o.Mode,
		"What to do with a set whose pod template, claim templates or objects the host cluster finds invalid in a dry run: enforce refuses it, warn accepts it with a warning, off does not ask the host.")
	flags.StringVar(&o.Identity, "preflight-identity", o.Identity,
		"User of the host cluster in whose name these dry runs are asked for, which this server must be allowed to impersonate. The manifests have an account that may create in dry runs only. If empty, the server asks in its own name.")
}

// Validate says what is wrong with the values, naming the flags.
func (o *Options) Validate() []error {
	if slices.Contains([]string{enforce, warn, off}, o.Mode) {
		return nil
	}
	return []error{fmt.Errorf("--preflight is %q, must be %s, %s or %s", o.Mode, enforce, warn, off)}
}

// Build lets sets be tried on a host before they are stored.
func (o *Options) Build(host *rest.Config, resources Resources) (Preflight, error) {
	if o.Mode == off {
		return Preflight{}, nil
	}
	runner, err := newDryRunner(host, o.Identity, resources)
	if err != nil {
		return Preflight{}, err
	}
	return Preflight{Host: runner, WarnOnly: o.Mode == warn}, nil
}
