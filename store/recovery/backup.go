// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package recovery

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"statefulset.dev/store/backend"
	"statefulset.dev/store/guard"
	"statefulset.dev/store/signature"
)

// Backup writes a consistent copy of the store to a new file, or to out if the file is "-". The
// server may be running. A server with an embedded etcd is found by its data directory. The format
// is that of etcd's snapshots. The first of the keys signs the copy; without keys it is not signed.
func Backup(ctx context.Context, o *backend.Options, file string, keys signature.Keys, out, messages io.Writer) error {
	closeStorage, err := o.Reach(ctx)
	if err != nil {
		return err
	}
	err = backup(ctx, o, file, keys, out, messages)
	return errors.Join(err, closeStorage())
}

func backup(ctx context.Context, o *backend.Options, file string, keys signature.Keys, out, messages io.Writer) error {
	etcd, err := o.Client()
	if err != nil {
		return err
	}
	defer etcd.Close()
	// A copy is also created of a store that this version cannot read.
	found, err := guard.Describe(ctx, etcd, o.Etcd.StorageConfig.Prefix)
	if err != nil {
		return err
	}
	snapshot, err := etcd.Snapshot(ctx)
	if err != nil {
		return fmt.Errorf("reading the store: %w", err)
	}
	defer snapshot.Close()
	from := signed(snapshot, keys)
	defer from.Close()
	size, err := save(from, file, out)
	if err != nil {
		return err
	}
	by := "not signed"
	if len(keys) > 0 {
		by = fmt.Sprintf("signed with key %q", keys[0].Name)
	}
	_, err = fmt.Fprintf(messages, "backed up store %s at revision %d or later, format %d, %d bytes, %s\n", found.Store, found.Revision,
		found.Format, size, by)
	return err
}

// signed is the snapshot, with a signature without a name if there is a key.
func signed(snapshot io.ReadCloser, keys signature.Keys) io.ReadCloser {
	if len(keys) == 0 {
		return snapshot
	}
	read, write := io.Pipe()
	go func() {
		_, err := keys[0].Sign(write, snapshot, "", time.Now())
		_ = write.CloseWithError(err)
	}()
	return read
}

// save writes to a file that appears only when it is complete and on disk.
func save(from io.Reader, file string, out io.Writer) (int64, error) {
	if file == "-" {
		size, err := io.Copy(out, from)
		if err != nil {
			return 0, fmt.Errorf("writing the backup: %w", err)
		}
		return size, nil
	}
	if _, err := os.Lstat(file); err == nil {
		return 0, fmt.Errorf("--to %q already exists; choose another file", file)
	}
	partial, size, err := saveNextTo(from, file)
	if err == nil {
		err = os.Rename(partial, file)
	}
	if err != nil {
		return 0, errors.Join(fmt.Errorf("writing --to %q: %w", file, err), os.RemoveAll(partial))
	}
	return size, nil
}

// saveNextTo writes to a new file in the directory of another one, under a name at which no one
// else can have put a link, and readable only by its owner.
func saveNextTo(from io.Reader, path string) (name string, size int64, err error) {
	file, err := os.CreateTemp(filepath.Dir(path), filepath.Base(path)+".*.partial")
	if err != nil {
		return "", 0, err
	}
	size, err = copySynced(file, from)
	return file.Name(), size, err
}

func copySynced(file *os.File, from io.Reader) (int64, error) {
	size, err := io.Copy(file, from)
	return size, errors.Join(err, file.Sync(), file.Close())
}
