// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"fmt"
	"time"

	"github.com/spf13/pflag"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/client-go/features"
	"k8s.io/client-go/tools/leaderelection"
)

// Options is what an operator may choose about the controller.
type Options struct {
	// LeaderElect makes replicas agree on the one that controls. Without it every
	// replica does.
	LeaderElect bool
	// LeaseNamespace and LeaseName say which Lease of the host cluster they agree by.
	LeaseNamespace, LeaseName string
	// LeaseDuration is how long a leader that has fallen silent is respected.
	LeaseDuration time.Duration
	// RenewDeadline is how long a leader that cannot renew goes on leading.
	RenewDeadline time.Duration
	// RetryPeriod is how often the lease is renewed, or tried for.
	RetryPeriod time.Duration
	// ConcurrentSyncs is how many sets are worked on at the same time.
	ConcurrentSyncs int
}

// NewOptions returns the defaults. With them a leader that is killed has a
// successor within 15 seconds. The others look at the lease every 1 to 2.2 seconds
// (the retry period and its jitter), and count the nine seconds of its duration from
// when they have seen it renewed: up to 2.2 seconds after it was. When these are
// over, up to 2.2 more pass before the next look. The rest is for a fresh list.
//
// For the same reason a leader that gives the lease back is replaced within 2.2
// seconds and the time for the list.
func NewOptions() Options {
	return Options{
		LeaderElect:     true,
		LeaseNamespace:  "statefulset-system",
		LeaseName:       "statefulset-apiserver-controller",
		LeaseDuration:   9 * time.Second,
		RenewDeadline:   6 * time.Second,
		RetryPeriod:     time.Second,
		ConcurrentSyncs: 10,
	}
}

// AddFlags adds a flag for every option.
func (o *Options) AddFlags(flags *pflag.FlagSet) {
	flags.BoolVar(&o.LeaderElect, "leader-elect", o.LeaderElect,
		"Let replicas agree on the one that controls. Switch it off only if there is a single replica.")
	flags.StringVar(&o.LeaseNamespace, "leader-elect-lease-namespace", o.LeaseNamespace,
		"Namespace of the host cluster that holds the Lease by which replicas agree.")
	flags.StringVar(&o.LeaseName, "leader-elect-lease-name", o.LeaseName,
		"Name of the Lease by which replicas agree.")
	flags.DurationVar(&o.LeaseDuration, "leader-elect-lease-duration", o.LeaseDuration,
		"How long a leader that has fallen silent is respected before another replica takes over.")
	flags.DurationVar(&o.RenewDeadline, "leader-elect-renew-deadline", o.RenewDeadline,
		"How long a leader that cannot renew the Lease goes on leading. Less than the lease duration.")
	flags.DurationVar(&o.RetryPeriod, "leader-elect-retry-period", o.RetryPeriod,
		"How often the Lease is renewed, or tried for. Less than the renew deadline.")
	flags.IntVar(&o.ConcurrentSyncs, "concurrent-syncs", o.ConcurrentSyncs,
		"How many sets are worked on at the same time.")
}

// Validate returns one error for each flag and gate that cannot be used, with its value
// and what would be valid.
func (o *Options) Validate() []error {
	var errs []error
	// Without it a cache does not say how far it has come, and no set would pass its
	// first write.
	if gate := features.AtomicFIFO; !features.FeatureGates().Enabled(gate) {
		errs = append(errs, fmt.Errorf("KUBE_FEATURE_%s=false: the controller needs this feature gate of client-go; do not switch it off", gate))
	}
	if o.ConcurrentSyncs < 1 {
		errs = append(errs, fmt.Errorf("--concurrent-syncs=%d: must be at least 1", o.ConcurrentSyncs))
	}
	if !o.LeaderElect {
		return errs
	}
	if problems := validation.IsDNS1123Label(o.LeaseNamespace); len(problems) > 0 {
		errs = append(errs, fmt.Errorf("--leader-elect-lease-namespace=%q: %s", o.LeaseNamespace, problems[0]))
	}
	if problems := validation.IsDNS1123Subdomain(o.LeaseName); len(problems) > 0 {
		errs = append(errs, fmt.Errorf("--leader-elect-lease-name=%q: %s", o.LeaseName, problems[0]))
	}
	// The Lease holds its duration in whole seconds.
	if o.LeaseDuration < time.Second || o.LeaseDuration%time.Second != 0 {
		errs = append(errs, fmt.Errorf("--leader-elect-lease-duration=%s: must be whole seconds, at least 1s", o.LeaseDuration))
	}
	if o.RenewDeadline >= o.LeaseDuration {
		errs = append(errs, fmt.Errorf("--leader-elect-renew-deadline=%s: must be less than --leader-elect-lease-duration (%s)",
			o.RenewDeadline, o.LeaseDuration))
	}
	if longest := time.Duration(float64(o.RenewDeadline) / leaderelection.JitterFactor); o.RetryPeriod <= 0 || o.RetryPeriod >= longest {
		errs = append(errs, fmt.Errorf("--leader-elect-retry-period=%s: must be more than 0s and less than %s, that is "+
			"--leader-elect-renew-deadline (%s) divided by %v", o.RetryPeriod, longest, o.RenewDeadline, leaderelection.JitterFactor))
	}
	return errs
}
