// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package space

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/pflag"
	clientv3 "go.etcd.io/etcd/client/v3"
	"k8s.io/apimachinery/pkg/api/resource"
)

// With the defaults, a namespace can write an ordinary set a few hundred times a second. Without
// compaction, it would fill etcd's quota of 8 GiB in an hour.
const (
	defaultWriteRate  = "2Mi"
	defaultWriteBurst = "64Mi"
)

// Options limit how much is written to the store, in bytes, as quantities.
type Options struct {
	// Rate is how many bytes a namespace may write per second, and Burst how many at once.
	Rate, Burst string
}

// NewOptions returns the defaults.
func NewOptions() *Options {
	return &Options{Rate: defaultWriteRate, Burst: defaultWriteBurst}
}

// AddFlags adds all flags.
func (o *Options) AddFlags(flags *pflag.FlagSet) {
	flags.StringVar(&o.Rate, "namespace-write-rate", o.Rate,
		"How many bytes of sets each namespace may write to the store per second, for each replica of the server. Writes beyond that are refused with 429 and may be retried; status and deletions do not count. 0 sets no limit.")
	flags.StringVar(&o.Burst, "namespace-write-burst", o.Burst,
		"How many bytes of sets a namespace may write at once after it has written little. At least 2Mi.")
}

// Validate returns errors that name the invalid flags.
func (o *Options) Validate() []error {
	_, _, errs := o.read()
	return errs
}

func (o *Options) read() (bytesPerSecond, burst int64, errs []error) {
	bytesPerSecond, err := bytesOf(o.Rate, 0)
	if err != nil {
		errs = append(errs, fmt.Errorf("--namespace-write-rate is %q: %w", o.Rate, err))
	}
	if burst, err = bytesOf(o.Burst, leastBurst); err != nil {
		errs = append(errs, fmt.Errorf("--namespace-write-burst is %q: %w", o.Burst, err))
	}
	return bytesPerSecond, burst, errs
}

// bytesOf parses a quantity such as 64Mi.
func bytesOf(text string, least int64) (int64, error) {
	const most = 1 << 40
	quantity, err := resource.ParseQuantity(text)
	if err != nil || quantity.Value() < least || quantity.Value() > most {
		return 0, fmt.Errorf("must be a number of bytes such as 64Mi, from %s to %s", resource.NewQuantity(least, resource.BinarySI),
			resource.NewQuantity(most, resource.BinarySI))
	}
	return quantity.Value(), nil
}

// Start begins to monitor how full etcd is. The returned function ends that.
func (o *Options) Start(ctx context.Context, etcd *clientv3.Client, remedies Remedies) (*Room, func(), error) {
	bytesPerSecond, burst, errs := o.read()
	if err := errors.Join(errs...); err != nil {
		return nil, nil, err
	}
	room, stop := startRoom(ctx, etcd, fillInterval, bytesPerSecond, burst, remedies)
	showFill(room.fill)
	return room, stop, nil
}

// startRoom asks etcd at the given interval.
func startRoom(ctx context.Context, etcd *clientv3.Client, interval time.Duration, bytesPerSecond, burst int64, remedies Remedies) (*Room,
	func()) {
	filling := newFilling(etcd, interval)
	running, stop := context.WithCancel(ctx)
	done := make(chan struct{})
	go func() {
		defer close(done)
		filling.run(running)
	}()
	return newRoom(bytesPerSecond, burst, filling.latest, remedies), func() {
		stop()
		<-done
	}
}
