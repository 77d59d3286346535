// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package preflight

import (
	"fmt"
	"slices"

	"github.com/spf13/pflag"
	"k8s.io/client-go/rest"
)

// The modes for a set whose template or claims the host cluster finds invalid: reject it, or accept
// it with a warning, or send no dry runs.
const (
	enforce = "enforce"
	warn    = "warn"
	off     = "off"
)

// defaultIdentity is the account of the manifests that may create these objects in dry runs only.
const defaultIdentity = "system:serviceaccount:statefulset-system:statefulset-preflight"

// Options specify how sets are tried on the host cluster.
type Options struct {
	// Mode is "enforce", "warn" or "off".
	Mode string
	// Identity is the user of the host cluster for dry runs. If it is empty, this server uses its
	// own account.
	Identity string
}

// NewOptions returns the defaults.
func NewOptions() *Options {
	return &Options{Mode: enforce, Identity: defaultIdentity}
}

// AddFlags adds all flags.
func (o *Options) AddFlags(flags *pflag.FlagSet) {
	flags.StringVar(&o.Mode, "preflight", o.Mode,
		"What to do with a set if a dry run on the host cluster finds its pod template, claim templates or objects invalid: enforce rejects the set, warn accepts it with a warning, off skips the dry run.")
	flags.StringVar(&o.Identity, "preflight-identity", o.Identity,
		"User of the host cluster as which this server sends these dry runs. The server must be allowed to impersonate this user. The manifests have an account that can create objects in dry runs only. If empty, the server sends the dry runs as itself.")
}

// Validate returns an error for each invalid value, with its flag.
func (o *Options) Validate() []error {
	if slices.Contains([]string{enforce, warn, off}, o.Mode) {
		return nil
	}
	return []error{fmt.Errorf("--preflight is %q, must be %s, %s or %s", o.Mode, enforce, warn, off)}
}

// Build returns a Preflight that tries sets on a host cluster before they are stored.
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
