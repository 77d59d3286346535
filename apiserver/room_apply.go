// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package apiserver

import (
	"context"
	"fmt"

	"github.com/spf13/pflag"
	"k8s.io/apimachinery/pkg/api/resource"
)

// The defaults let a namespace write an ordinary set some hundred times a second, and
// fill etcd's quota of 8 GiB in an hour if nothing were compacted.
const (
	defaultWriteRate  = "2Mi"
	defaultWriteBurst = "64Mi"
)

func (o *Options) addRoomFlags(flags *pflag.FlagSet) {
	flags.StringVar(&o.WriteRate, "namespace-write-rate", o.WriteRate,
		"How many bytes of sets each namespace may write to the store in a second, for each replica of the server. What is beyond is refused with 429 and may be sent again; status and deletions are free. 0 sets no limit.")
	flags.StringVar(&o.WriteBurst, "namespace-write-burst", o.WriteBurst,
		"How many bytes of sets a namespace may write at once after it has written little. At least 2Mi.")
}

func (o *Options) validateRoom() []error {
	var errs []error
	if _, err := bytesOf(o.WriteRate, 0); err != nil {
		errs = append(errs, fmt.Errorf("--namespace-write-rate is %q: %w", o.WriteRate, err))
	}
	if _, err := bytesOf(o.WriteBurst, leastBurst); err != nil {
		errs = append(errs, fmt.Errorf("--namespace-write-burst is %q: %w", o.WriteBurst, err))
	}
	return errs
}

// bytesOf reads a quantity such as 64Mi.
func bytesOf(text string, least int64) (int64, error) {
	const most = 1 << 40
	quantity, err := resource.ParseQuantity(text)
	if err != nil || quantity.Value() < least || quantity.Value() > most {
		return 0, fmt.Errorf("must be a number of bytes such as 64Mi, from %s to %s", resource.NewQuantity(least, resource.BinarySI), resource.NewQuantity(most, resource.BinarySI))
	}
	return quantity.Value(), nil
}

// applyRoom bounds what is written to the store. The func that it returns stops that.
func (o *Options) applyRoom(ctx context.Context, config *Config) (func() error, error) {
	bytesPerSecond, err := bytesOf(o.WriteRate, 0)
	if err != nil {
		return nil, fmt.Errorf("--namespace-write-rate is %q: %w", o.WriteRate, err)
	}
	burst, err := bytesOf(o.WriteBurst, leastBurst)
	if err != nil {
		return nil, fmt.Errorf("--namespace-write-burst is %q: %w", o.WriteBurst, err)
	}
	etcd, err := o.Storage.Client()
	if err != nil {
		return nil, err
	}
	filling := newFilling(etcd, fillInterval)
	config.room = newRoom(bytesPerSecond, burst, filling.latest, o.fillRemedies())
	showFill(filling.latest)

	running, stop := context.WithCancel(ctx)
	done := make(chan struct{})
	go func() {
		defer close(done)
		filling.run(running)
	}()
	return func() error {
		stop()
		<-done
		return etcd.Close()
	}, nil
}

func (o *Options) fillRemedies() fillRemedies {
	if o.Storage.Embedded() {
		return fillRemedies{"restart this server, which defragments it", "move the store to an etcd of your own with a larger quota, see docs/backup.md"}
	}
	return fillRemedies{"defragment etcd", "start etcd with a larger --quota-backend-bytes"}
}
