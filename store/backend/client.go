// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package backend

import (
	"fmt"
	"time"

	"go.etcd.io/etcd/client/pkg/v3/transport"
	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"
)

const (
	// dialTimeout limits how long connecting to etcd may take.
	dialTimeout = 5 * time.Second
	// A connection to an unreachable machine looks like a slow one. After this idle time, the
	// client sends a ping, and closes the connection if there is no answer. gRPC does not allow
	// shorter intervals.
	keepAliveTime    = 10 * time.Second
	keepAliveTimeout = 3 * time.Second
)

// Client returns a client for the external or the embedded etcd.
func (o *Options) Client() (*clientv3.Client, error) {
	given := o.Etcd.StorageConfig.Transport
	etcd := clientv3.Config{
		Endpoints: given.ServerList, DialTimeout: dialTimeout, Logger: zap.NewNop(),
		DialKeepAliveTime: keepAliveTime, DialKeepAliveTimeout: keepAliveTimeout,
	}
	if given.CertFile != "" || given.KeyFile != "" || given.TrustedCAFile != "" {
		tls, err := (transport.TLSInfo{CertFile: given.CertFile, KeyFile: given.KeyFile, TrustedCAFile: given.TrustedCAFile}).ClientConfig()
		if err != nil {
			return nil, fmt.Errorf("reading --etcd-certfile, --etcd-keyfile and --etcd-cafile: %w", err)
		}
		etcd.TLS = tls
	}
	client, err := clientv3.New(etcd)
	if err != nil {
		return nil, fmt.Errorf("connecting to etcd at %q: %w", given.ServerList, err)
	}
	return client, nil
}
