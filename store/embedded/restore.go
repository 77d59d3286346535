// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package embedded

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"go.etcd.io/bbolt"
	berrors "go.etcd.io/bbolt/errors"
	"go.etcd.io/etcd/client/pkg/v3/fileutil"
	"go.etcd.io/etcd/server/v3/storage/schema"
	"go.etcd.io/etcd/server/v3/storage/wal"
	"go.uber.org/zap"
	"k8s.io/apimachinery/pkg/util/wait"
)

const (
	snapshotPoll     = 20 * time.Millisecond
	snapshotPatience = 30 * time.Second
)

// Restore creates the data of an etcd from a database of another one, and closes the directory,
// which must be new: on an error it is emptied. fill writes the database to a file, and check
// verifies it through the endpoint of an etcd that runs on it.
func (d *Dir) Restore(ctx context.Context, fill func(database string) error, check func(ctx context.Context, endpoint string) error) error {
	if err := d.restoreInto(ctx, fill, check); err != nil {
		return errors.Join(err, emptyDir(d.path))
	}
	return nil
}

func (d *Dir) restoreInto(ctx context.Context, fill func(database string) error,
	check func(ctx context.Context, endpoint string) error) error {
	database := filepath.Join(d.path, "member", "snap", "db")
	if err := fill(database); err != nil {
		return errors.Join(err, d.Close())
	}
	if err := forgetMembers(database); err != nil {
		return errors.Join(fmt.Errorf("preparing %s: %w", database, err), d.Close())
	}
	// Etcd creates the log that belongs to the database, and so proves that it can use the
	// database.
	etcd, err := newEtcd(d, defaultQuota)
	if err != nil {
		return err
	}
	// The cluster must not be mistaken for the one that it was copied from, nor for an earlier
	// restored one: members of those could still be running.
	etcd.restored = rand.Text()
	err = etcd.start(ctx)
	if err == nil {
		err = check(ctx, etcd.Endpoint())
	}
	if err == nil {
		err = d.awaitSnapshot(ctx)
	}
	return errors.Join(err, etcd.Close())
}

// awaitSnapshot returns when the log begins with a snapshot of the database. A member that joins
// later receives the log from its first entry. Without the snapshot, it would get none of the data.
func (d *Dir) awaitSnapshot(ctx context.Context) error {
	path := logOf(d.path)
	err := wait.PollUntilContextTimeout(ctx, snapshotPoll, snapshotPatience, true, func(context.Context) (bool, error) {
		found, err := wal.ValidSnapshotEntries(zap.NewNop(), path)
		// A snapshot that is still being written cannot be read to its end.
		return err == nil && len(found) > 0 && found[len(found)-1].GetIndex() > 0, nil
	})
	if err != nil {
		return fmt.Errorf("waiting until %s begins with a snapshot: %w", path, err)
	}
	return nil
}

// forgetMembers removes from a database what belongs to the etcd that it was copied from: the
// members, and the position in their log.
func forgetMembers(path string) error {
	db, err := bbolt.Open(path, fileutil.PrivateFileMode, &bbolt.Options{Timeout: openTimeout})
	if err != nil {
		return err
	}
	err = db.Update(func(tx *bbolt.Tx) error {
		for _, bucket := range [][]byte{schema.Members.Name(), schema.MembersRemoved.Name(), schema.Cluster.Name()} {
			if err := tx.DeleteBucket(bucket); err != nil && !errors.Is(err, berrors.ErrBucketNotFound) {
				return err
			}
			if _, err := tx.CreateBucket(bucket); err != nil {
				return err
			}
		}
		meta := tx.Bucket(schema.Meta.Name())
		if meta == nil {
			return errors.New("it is not a database of etcd")
		}
		return errors.Join(meta.Delete(schema.MetaConsistentIndexKeyName), meta.Delete(schema.MetaTermKeyName),
			meta.Delete(schema.MetaConfStateName))
	})
	return errors.Join(err, db.Close())
}

// emptyDir deletes the remains of a failed restore.
func emptyDir(path string) error {
	return errors.Join(os.RemoveAll(filepath.Join(path, "member")),
		os.RemoveAll(filepath.Join(path, versionFile)), os.RemoveAll(filepath.Join(path, lockFile)))
}
