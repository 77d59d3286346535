// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package backend_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"statefulset.dev/store/backend"
	"statefulset.dev/test/harness"
	"statefulset.dev/test/harness/etcd"
	"statefulset.dev/test/harness/proxy"
)

const (
	// answered is how long an etcd that can be reached may take to answer.
	answered = time.Second
	// inARow are more reads than the client could send past a server by chance.
	inARow = 10
)

// A machine that was cut off ends no connection. Reads that were sent to it have no answer, and others
// must not go there for as long as the kernel tries.
func TestAServerThatWasCutOffIsGivenUp(t *testing.T) {
	server := etcd.Start(t).Endpoint()
	lost := proxy.NewLink(t, "127.0.0.1:0", server, false)
	others := proxy.NewLink(t, "127.0.0.1:0", server, false)
	options := backend.NewOptions()
	options.Etcd.StorageConfig.Transport.ServerList = []string{"http://" + lost.Address(), "http://" + others.Address()}
	client, err := options.Client()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = client.Close() })
	read := func(ctx context.Context) error {
		for n := range inARow {
			ctx, cancel := context.WithTimeout(ctx, answered)
			_, err := client.Get(ctx, "key")
			cancel()
			if err != nil {
				return fmt.Errorf("read %d of %d: %w", n+1, inARow, err)
			}
		}
		return nil
	}
	others.Cut()
	harness.Eventually(t, "all reads go to the server that will be cut off", read)
	others.Heal()
	lost.Hold(proxy.Forth)
	lost.Hold(proxy.Back)
	if read(t.Context()) == nil {
		t.Fatal("no read went to the server that was cut off, so this tests nothing")
	}
	harness.Eventually(t, "all reads go to the other server", read)
}
