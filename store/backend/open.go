// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package backend

import (
	"context"
	"fmt"

	"k8s.io/klog/v2"

	"statefulset.dev/store/embedded"
)

// Open starts the embedded etcd, unless there is an external one, and points the options at it. It
// calls fail if etcd ends unexpectedly.
func (o *Options) Open(ctx context.Context, fail context.CancelCauseFunc) (func() error, error) {
	if !o.Embeds() {
		return func() error { return nil }, nil
	}
	path := o.Dir()
	etcd, err := embedded.Start(ctx, path)
	if err != nil {
		return nil, err
	}
	o.embedded = true
	if o.Fatal != nil {
		etcd.OnFatal(o.Fatal)
	}
	o.Etcd.StorageConfig.Transport.ServerList = []string{etcd.Endpoint()}
	klog.FromContext(ctx).Info("Embedded etcd is ready", "dataDir", path)
	go func() {
		if err, ok := <-etcd.Err(); ok {
			fail(fmt.Errorf("the embedded etcd ended: %w", err))
		}
	}()
	return etcd.Close, nil
}

// Reach is like Open, for a store whose server may be running in another process.
func (o *Options) Reach(ctx context.Context) (func() error, error) {
	nothing := func() error { return nil }
	if !o.Embeds() {
		return nothing, o.reuseTLS()
	}
	if err := embedded.CheckUsed(o.Dir()); err != nil {
		return nil, fmt.Errorf("--data-dir %q holds no store: %w", o.Dir(), err)
	}
	if !embedded.InUse(o.Dir()) {
		return o.Open(ctx, func(error) {})
	}
	endpoint, err := embedded.Running(ctx, o.Dir())
	if err != nil {
		return nil, fmt.Errorf(
			"the server that uses --data-dir %q cannot be reached: %w; run this as its user, on its machine or in its container", o.Dir(), err)
	}
	o.Etcd.StorageConfig.Transport.ServerList = []string{endpoint}
	return nothing, nil
}
