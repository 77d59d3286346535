// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package storage

import (
	"fmt"
	"time"

	"go.etcd.io/etcd/client/pkg/v3/transport"
	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"
)

// dialTimeout bounds how long a connection to etcd takes.
const dialTimeout = 5 * time.Second

// Client leads to the etcd that was given, or started.
func (o *Options) Client() (*clientv3.Client, error) {
	given := o.Etcd.StorageConfig.Transport
	etcd := clientv3.Config{Endpoints: given.ServerList, DialTimeout: dialTimeout, Logger: zap.NewNop()}
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
