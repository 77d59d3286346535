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

// Options are the operator's options for the controller.
type Options struct {
	// LeaderElect makes the replicas elect a leader. Without it, every replica controls the sets.
	LeaderElect bool
	// LeaseNamespace and LeaseName name the Lease for leader election in the host cluster.
	LeaseNamespace, LeaseName string
	// LeaseDuration is how long other replicas wait for a silent leader.
	LeaseDuration time.Duration
	// RenewDeadline is how long a leader that cannot renew the lease continues to lead.
	RenewDeadline time.Duration
	// RetryPeriod is how often the leader renews the lease, and the other replicas try to acquire
	// it.
	RetryPeriod time.Duration
	// ConcurrentSyncs is how many sets are synced at the same time.
	ConcurrentSyncs int
}

// NewOptions returns the defaults. With them, a killed leader is replaced within 15 seconds. The
// other replicas read the lease every 1 to 2.2 seconds (the retry period and its jitter). They
// count its duration of nine seconds from when they see a renewal, up to 2.2 seconds late. After
// these nine seconds, up to 2.2 more pass before the next read. The remaining time is for a fresh
// list.
//
// For the same reason, a leader that releases the lease is replaced within 2.2 seconds and the time
// for the list.
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
		"Elect one replica as the leader that controls the sets. Disable this only with a single replica.")
	flags.StringVar(&o.LeaseNamespace, "leader-elect-lease-namespace", o.LeaseNamespace,
		"Namespace of the Lease for leader election in the host cluster.")
	flags.StringVar(&o.LeaseName, "leader-elect-lease-name", o.LeaseName,
		"Name of the Lease for leader election.")
	flags.DurationVar(&o.LeaseDuration, "leader-elect-lease-duration", o.LeaseDuration,
		"How long the other replicas wait for a silent leader before one of them takes over.")
	flags.DurationVar(&o.RenewDeadline, "leader-elect-renew-deadline", o.RenewDeadline,
		"How long a leader that cannot renew the Lease continues to lead. Less than the lease duration.")
	flags.DurationVar(&o.RetryPeriod, "leader-elect-retry-period", o.RetryPeriod,
		"How often the leader renews the Lease, and others try to acquire it. Less than the renew deadline.")
	flags.IntVar(&o.ConcurrentSyncs, "concurrent-syncs", o.ConcurrentSyncs,
		"How many sets are synced at the same time.")
}

// Validate returns one error for each invalid flag or feature gate, with its value and what would
// be valid.
func (o *Options) Validate() []error {
	var errs []error
	// Without this gate, a cache does not report its resource version, and no set would proceed
	// after its first write.
	if gate := features.AtomicFIFO; !features.FeatureGates().Enabled(gate) {
		errs = append(errs, fmt.Errorf("KUBE_FEATURE_%s=false: the controller needs this feature gate of client-go; do not disable it", gate))
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
	// A Lease records its duration in whole seconds.
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
