// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package recovery

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"hash"
	"os"
	"path"

	"go.etcd.io/etcd/api/v3/mvccpb"
	clientv3 "go.etcd.io/etcd/client/v3"

	"statefulset.dev/store/signature"
)

// pageSize is how many keys are read at a time.
const pageSize = 500

// Contents describe the data of a store at a revision of etcd. Equal Contents mean equal data.
type Contents struct {
	Revision int64 `json:"revision"`
	// Keys is the number of keys below the prefix: one for each set, and the record of the store.
	Keys int64 `json:"keys"`
	// Digest is a hash of all keys, their values and their revisions.
	Digest string `json:"digest"`
}

// String is for messages.
func (c Contents) String() string { return fmt.Sprintf("%d keys at revision %d", c.Keys, c.Revision) }

// Read reads the data of a store below a prefix at a revision, 0 for the current one.
func Read(ctx context.Context, etcd *clientv3.Client, prefix string, revision int64) (Contents, error) {
	found := Contents{Revision: revision}
	digest := sha256.New()
	from := path.Join("/", prefix) + "/"
	end := clientv3.GetPrefixRangeEnd(from)
	for {
		page, err := etcd.Get(ctx, from, clientv3.WithRange(end), clientv3.WithRev(found.Revision), clientv3.WithLimit(pageSize))
		if err != nil {
			return Contents{}, fmt.Errorf("reading the store: %w", err)
		}
		if found.Revision == 0 {
			found.Revision = page.Header.Revision
		}
		for _, kv := range page.Kvs {
			addTo(digest, kv)
		}
		found.Keys += int64(len(page.Kvs))
		if !page.More {
			found.Digest = fmt.Sprintf("%x", digest.Sum(nil))
			return found, nil
		}
		from = string(page.Kvs[len(page.Kvs)-1].Key) + "\x00"
	}
}

// addTo adds a key with the lengths of its parts, so that different keys never give the same input.
func addTo(digest hash.Hash, kv *mvccpb.KeyValue) {
	_, _ = fmt.Fprintln(digest, len(kv.Key), len(kv.Value), kv.CreateRevision, kv.ModRevision, kv.Version)
	_, _ = digest.Write(kv.Key)
	_, _ = digest.Write(kv.Value)
}

// Check checks a backup by trust as Restore does, but accepts one that is not authenticated, and
// reports that. Then it restores the backup into a temporary directory, and returns what it
// contains. An etcd runs on it meanwhile, in this process: if it crashes, so does the process.
func Check(ctx context.Context, file, prefix, scratch string, trust Trust) (found Contents, by signature.Snapshot, err error) {
	if by, err = signature.Inspect(file, trust.expected(file), trust.Keys); err != nil {
		return Contents{}, by, fmt.Errorf("%q is not a backup that can be restored: %w", file, err)
	}
	into, err := os.MkdirTemp(scratch, "restored-")
	if err != nil {
		return Contents{}, by, fmt.Errorf("creating a directory to restore into: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(into)) }()
	err = restoreInto(ctx, into, file, by, func(ctx context.Context, etcd *clientv3.Client) error {
		found, err = Read(ctx, etcd, prefix, 0)
		return err
	})
	if err != nil {
		return Contents{}, by, fmt.Errorf("restoring %q: %w", file, err)
	}
	return found, by, nil
}
