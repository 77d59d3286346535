// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package apiserver

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"go.etcd.io/bbolt"
	berrors "go.etcd.io/bbolt/errors"
	"go.etcd.io/etcd/client/pkg/v3/fileutil"
	clientv3 "go.etcd.io/etcd/client/v3"
	"go.etcd.io/etcd/server/v3/storage/schema"
	"go.uber.org/zap"
)

// Restore makes a data directory for the embedded etcd from a backup file, or from
// in if the file is "-". The directory must be new or empty; on an error it is left
// as it was.
//
// What was written after the backup is gone, and the cluster knows that: the
// server does not serve the restored store before an operator accepts it.
func Restore(ctx context.Context, o *Options, file string, in io.Reader, messages io.Writer) (err error) {
	if !o.embedsEtcd() {
		return fmt.Errorf("--etcd-servers is %q: an external etcd is restored with etcdutl snapshot restore", o.Etcd.StorageConfig.Transport.ServerList)
	}
	path := o.dataDir()
	if entries, err := os.ReadDir(path); err == nil && len(entries) > 0 {
		return fmt.Errorf("--data-dir %q is not empty, it holds %q; choose a new directory", path, entries[0].Name())
	}
	if file == "-" {
		// It is checked before it is used, and that takes a file.
		var saveErr error
		file, _, saveErr = saveBeside(in, path)
		defer func() { err = errors.Join(err, os.RemoveAll(file)) }()
		if saveErr != nil {
			return fmt.Errorf("keeping what comes from standard input: %w", saveErr)
		}
	}
	if err := checkBackup(file); err != nil {
		return fmt.Errorf("--from %q is no backup that can be restored: %w", file, err)
	}
	dir, err := openDataDir(path)
	if err != nil {
		return err
	}
	if err := restoreInto(ctx, dir, file); err != nil {
		return errors.Join(fmt.Errorf("restoring --from %q: %w", file, err), emptyDir(path))
	}
	_, err = fmt.Fprintf(messages, "restored into %s; start the server with --data-dir=%s, and accept the store with the command that it then prints\n", path, path)
	return err
}

// checkBackup makes sure that a backup is whole: behind the database comes its
// hash.
func checkBackup(path string) error {
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return err
	}
	// The database is a multiple of 512 bytes, which tells it from one without hash.
	size := info.Size() - sha256.Size
	if size <= 0 || size%512 != 0 {
		return fmt.Errorf("it has %d bytes, which no etcd snapshot has", info.Size())
	}
	hash := sha256.New()
	if _, err := io.CopyN(hash, file, size); err != nil {
		return err
	}
	want, err := io.ReadAll(file)
	if err != nil {
		return err
	}
	if !bytes.Equal(hash.Sum(nil), want) {
		return errors.New("its hash is wrong, so it was damaged or cut off")
	}
	return nil
}

// restoreInto fills an empty data directory, and lets go of it.
func restoreInto(ctx context.Context, dir *dataDir, file string) error {
	database := filepath.Join(dir.path, "member", "snap", "db")
	if err := copyDatabase(file, database); err != nil {
		return errors.Join(err, dir.Close())
	}
	if err := forgetMembers(database); err != nil {
		return errors.Join(fmt.Errorf("preparing %s: %w", database, err), dir.Close())
	}
	// Etcd makes the log that belongs to the database, and proves that it can use it.
	etcd, err := newEmbeddedEtcd(dir, embeddedQuota)
	if err != nil {
		return err
	}
	err = etcd.start(ctx)
	if err == nil {
		err = checkFormat(ctx, etcd.Endpoint())
	}
	return errors.Join(err, etcd.Close())
}

// checkFormat makes sure that this version can serve a store.
func checkFormat(ctx context.Context, endpoint string) error {
	client, err := clientv3.New(clientv3.Config{Endpoints: []string{endpoint}, Logger: zap.NewNop()})
	if err != nil {
		return err
	}
	_, err = newStore(client, etcdPrefix).look(ctx)
	return errors.Join(err, client.Close())
}

func copyDatabase(from, to string) error {
	if err := os.MkdirAll(filepath.Dir(to), fileutil.PrivateDirMode); err != nil {
		return err
	}
	file, err := os.Open(from)
	if err != nil {
		return err
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return err
	}
	copied, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, fileutil.PrivateFileMode)
	if err != nil {
		return err
	}
	_, err = copySynced(copied, io.LimitReader(file, info.Size()-sha256.Size))
	return err
}

// forgetMembers takes out of a database what belongs to the etcd that it was copied
// from: its members, and how far it is in their log.
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
			return errors.New("it is no database of etcd")
		}
		return errors.Join(meta.Delete(schema.MetaConsistentIndexKeyName), meta.Delete(schema.MetaTermKeyName), meta.Delete(schema.MetaConfStateName))
	})
	return errors.Join(err, db.Close())
}

// emptyDir takes away what was begun.
func emptyDir(path string) error {
	return errors.Join(os.RemoveAll(filepath.Join(path, "member")),
		os.RemoveAll(filepath.Join(path, versionFile)), os.RemoveAll(filepath.Join(path, lockFile)))
}
