// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package embedded

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"k8s.io/apimachinery/pkg/util/wait"

	"statefulset.dev/test/harness"
)

func TestWhatWasWrittenLeavesTheMemory(t *testing.T) {
	const written, kept = 48 * mib, 24 * mib
	useEtcd(t, t.TempDir(), func(client *clientv3.Client) {
		value := strings.Repeat("x", 16<<10)
		before := harness.Heap()
		for n := range written / len(value) {
			if _, err := client.Put(t.Context(), fmt.Sprint("key-", n), value); err != nil {
				t.Fatalf("writing: %v", err)
			}
		}
		var grown int64
		err := wait.PollUntilContextTimeout(t.Context(), 100*time.Millisecond, time.Minute, true, func(context.Context) (bool, error) {
			grown = harness.Heap() - before
			return grown < kept, nil
		})
		if err != nil {
			t.Errorf("after %d MiB were written, the heap has grown by %d MiB, want less than %d", written/mib, grown/mib, kept/mib)
		}
	})
}
