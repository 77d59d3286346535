// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package apiserver

import (
	"fmt"
	"slices"

	"github.com/spf13/pflag"
	"k8s.io/client-go/rest"

	"statefulset.dev/registry/statefulset"
)

// What is done with a set whose template or claims the host finds invalid: it is
// refused, or accepted with a warning; or the host is not asked.
const (
	preflightEnforce = "enforce"
	preflightWarn    = "warn"
	preflightOff     = "off"
)

// defaultPreflightIdentity is the account of the manifests that may create what is tried,
// in dry runs only.
const defaultPreflightIdentity = "system:serviceaccount:statefulset-system:statefulset-preflight"

// preflightOptions say what is done with a set whose pods or claims the host finds invalid.
type preflightOptions struct {
	// Mode is "enforce", "warn" or "off".
	Mode string
	// Identity is the user of the host in whose name dry runs are asked for,
	// empty for this server itself.
	Identity string
}

// newPreflightOptions are the defaults.
func newPreflightOptions() *preflightOptions {
	return &preflightOptions{Mode: preflightEnforce, Identity: defaultPreflightIdentity}
}

// addFlags adds all flags.
func (o *preflightOptions) addFlags(flags *pflag.FlagSet) {
	flags.StringVar(&o.Mode, "preflight", o.Mode,
		"What to do with a set whose pod template or claim templates the host cluster finds invalid in a dry run: enforce refuses it, warn accepts it with a warning, off does not ask the host.")
	flags.StringVar(&o.Identity, "preflight-identity", o.Identity,
		"User of the host cluster in whose name these dry runs are asked for, which this server must be allowed to impersonate. The manifests have an account that may create in dry runs only. If empty, the server asks in its own name.")
}

// validate says what is wrong with the values, naming the flags.
func (o *preflightOptions) validate() []error {
	if slices.Contains([]string{preflightEnforce, preflightWarn, preflightOff}, o.Mode) {
		return nil
	}
	return []error{fmt.Errorf("--preflight is %q, must be %s, %s or %s", o.Mode, preflightEnforce, preflightWarn, preflightOff)}
}

// build lets sets be tried on a host before they are stored.
func (o *preflightOptions) build(host *rest.Config) (statefulset.Preflight, error) {
	if o.Mode == preflightOff {
		return statefulset.Preflight{}, nil
	}
	runner, err := newDryRunner(host, o.Identity)
	if err != nil {
		return statefulset.Preflight{}, err
	}
	return statefulset.Preflight{Host: runner, WarnOnly: o.Mode == preflightWarn}, nil
}
