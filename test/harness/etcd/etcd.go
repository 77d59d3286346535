// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

// Package etcd runs an etcd inside a test.
package etcd

import (
	"testing"

	clientv3 "go.etcd.io/etcd/client/v3"

	"statefulset.dev/store/embedded"
)

// Start starts an etcd that stops when the test ends.
func Start(t testing.TB) *embedded.Etcd {
	t.Helper()
	etcd, err := embedded.Start(t.Context(), t.TempDir())
	if err != nil {
		t.Fatalf("starting etcd: %v", err)
	}
	t.Cleanup(func() {
		if err := etcd.Close(); err != nil {
			t.Errorf("stopping etcd: %v", err)
		}
	})
	return etcd
}

// StartClient starts an etcd, and returns a client of it. Both stop when the test ends.
func StartClient(t testing.TB) *clientv3.Client {
	t.Helper()
	client, err := clientv3.New(clientv3.Config{Endpoints: []string{Start(t).Endpoint()}})
	if err != nil {
		t.Fatalf("connecting to etcd: %v", err)
	}
	t.Cleanup(func() {
		if err := client.Close(); err != nil {
			t.Errorf("disconnecting from etcd: %v", err)
		}
	})
	return client
}
