// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package recovery

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"go.etcd.io/etcd/client/pkg/v3/fileutil"
	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"

	"statefulset.dev/apiserver/embeddedetcd"
	"statefulset.dev/apiserver/storage"
	"statefulset.dev/apiserver/storeguard"
)

// Restore makes a data directory for the embedded etcd from a backup file, or from
// in if the file is "-". The directory must be new or empty; on an error it is left
// as it was.
//
// What was written after the backup is gone, and the cluster knows that: the
// server does not serve the restored store before an operator accepts it.
func Restore(ctx context.Context, o *storage.Options, file string, in io.Reader, messages io.Writer) (err error) {
	if !o.Embeds() {
		return fmt.Errorf("--etcd-servers is %q: an external etcd is restored with etcdutl snapshot restore", o.Etcd.StorageConfig.Transport.ServerList)
	}
	path := o.Dir()
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
	if err := restoreInto(ctx, path, file, func(ctx context.Context, etcd *clientv3.Client) error {
		// This version must be able to serve it.
		return storeguard.CheckFormat(ctx, etcd, storage.Prefix)
	}); err != nil {
		return fmt.Errorf("restoring --from %q: %w", file, err)
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

// restoreInto makes a data directory of a backup, if check finds that the etcd which then runs on it
// has what it should.
func restoreInto(ctx context.Context, path, file string, check func(context.Context, *clientv3.Client) error) error {
	dir, err := embeddedetcd.OpenDir(path)
	if err != nil {
		return err
	}
	fill := func(database string) error { return copyDatabase(file, database) }
	return dir.Restore(ctx, fill, func(ctx context.Context, endpoint string) error {
		client, err := clientv3.New(clientv3.Config{Endpoints: []string{endpoint}, Logger: zap.NewNop()})
		if err != nil {
			return err
		}
		return errors.Join(check(ctx, client), client.Close())
	})
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
