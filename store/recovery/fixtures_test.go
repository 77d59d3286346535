// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package recovery

import (
	"path/filepath"
	"testing"

	clientv3 "go.etcd.io/etcd/client/v3"

	"statefulset.dev/store/embedded"
)

// withEtcd runs the etcd of a data directory for as long as use takes.
func withEtcd(t *testing.T, dataDir string, use func(*clientv3.Client)) {
	t.Helper()
	etcd, err := embedded.Start(t.Context(), dataDir)
	if err != nil {
		t.Fatalf("starting etcd: %v", err)
	}
	client, err := clientv3.New(clientv3.Config{Endpoints: []string{etcd.Endpoint()}})
	if err != nil {
		t.Fatalf("connecting to etcd: %v", err)
	}
	use(client)
	if err := client.Close(); err != nil {
		t.Errorf("disconnecting from etcd: %v", err)
	}
	if err := etcd.Close(); err != nil {
		t.Errorf("stopping etcd: %v", err)
	}
}

// usedDir is a data directory that was used and left in order.
func usedDir(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "data")
	withEtcd(t, path, func(client *clientv3.Client) {
		if _, err := client.Put(t.Context(), "key", "value"); err != nil {
			t.Fatalf("writing: %v", err)
		}
	})
	return path
}
