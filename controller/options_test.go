// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/spf13/pflag"
	"k8s.io/client-go/features"
	featurestesting "k8s.io/client-go/features/testing"
	"k8s.io/client-go/tools/leaderelection"
)

func TestOptionsSayWhatIsWrong(t *testing.T) {
	cases := map[string]struct {
		flags []string
		want  string
	}{
		"the defaults are right":     {nil, ""},
		"no worker":                  {[]string{"--concurrent-syncs=0"}, `--concurrent-syncs=0: must be at least 1`},
		"a namespace that cannot be": {[]string{"--leader-elect-lease-namespace=A"}, `--leader-elect-lease-namespace="A": `},
		"a lease without a name":     {[]string{"--leader-elect-lease-name="}, `--leader-elect-lease-name="": `},
		"a lease of half seconds": {
			[]string{"--leader-elect-lease-duration=10500ms"}, `--leader-elect-lease-duration=10.5s: must be whole seconds`},
		"a deadline beyond the lease": {[]string{"--leader-elect-renew-deadline=10s"},
			`--leader-elect-renew-deadline=10s: must be less than --leader-elect-lease-duration (9s)`},
		"a retry beyond the deadline": {
			[]string{"--leader-elect-retry-period=7s"}, `--leader-elect-retry-period=7s: must be more than 0s and less than 5s`},
		"no election, no lease": {[]string{"--leader-elect=false", "--leader-elect-lease-name="}, ""},
	}
	for sentence, test := range cases {
		t.Run(sentence, func(t *testing.T) {
			options := NewOptions()
			flags := pflag.NewFlagSet("test", pflag.ContinueOnError)
			options.AddFlags(flags)
			if err := flags.Parse(test.flags); err != nil {
				t.Fatalf("parsing flags: %v", err)
			}
			got := ""
			if err := errors.Join(options.Validate()...); err != nil {
				got = err.Error()
			}
			if (got == "") != (test.want == "") || !strings.Contains(got, test.want) {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
}

func TestAGateThatTheControllerNeedsIsNotSwitchedOff(t *testing.T) {
	for _, on := range []bool{true, false} {
		t.Run(fmt.Sprintf("AtomicFIFO is %t", on), func(t *testing.T) {
			featurestesting.SetFeatureDuringTest(t, features.AtomicFIFO, on)
			options := NewOptions()
			err := errors.Join(options.Validate()...)
			// With it on, what a set has written is seen: every test of a running controller is about that.
			if named := err != nil && strings.Contains(err.Error(), "KUBE_FEATURE_AtomicFIFO=false: "); named == on {
				t.Errorf("got error %v, want one that names the gate: %t", err, !on)
			}
		})
	}
}

func TestTheDefaultsReplaceADeadLeaderWithin15Seconds(t *testing.T) {
	// A replica looks at the lease once in a retry period that jitter makes longer: by
	// that much its first sight of the last renewal is late, and its first look after
	// the lease has run out. A second is left for the lists of a new leader.
	options := NewOptions()
	look := options.RetryPeriod + time.Duration(leaderelection.JitterFactor*float64(options.RetryPeriod))
	if worst := look + options.LeaseDuration + look; worst > 14*time.Second {
		t.Errorf("got up to %s until the lease is taken over, want at most 14s", worst)
	}
}
