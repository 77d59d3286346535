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

	"go.etcd.io/etcd/client/pkg/v3/fileutil"
	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"

	"statefulset.dev/store/backend"
	"statefulset.dev/store/embedded"
	"statefulset.dev/store/guard"
	"statefulset.dev/store/signature"
)

// Trust says which backups may be restored.
type Trust struct {
	// Keys verify the signatures of backups.
	Keys signature.Keys
	// Unauthenticated restores a backup even if it does not prove who created it. A backup that was
	// forged, changed or renamed is still refused.
	Unauthenticated bool
	// Name is the name that the backup had in its place. Empty stands for the name of the file.
	Name string
}

// Restore creates a data directory for the embedded etcd from a backup file, or from in if the file
// is "-". The directory must be new or empty; on an error it is left unchanged. A backup is checked
// by trust before anything is written.
//
// Everything that was written after the backup is lost, and the cluster knows that: the server does
// not serve the restored store before an operator accepts it.
func Restore(ctx context.Context, o *backend.Options, file string, trust Trust, in io.Reader, messages io.Writer) (err error) {
	if !o.Embeds() {
		return fmt.Errorf("--etcd-servers is %q: an external etcd is restored with etcdutl snapshot restore",
			o.Etcd.StorageConfig.Transport.ServerList)
	}
	path := o.Dir()
	if entries, err := os.ReadDir(path); err == nil && len(entries) > 0 {
		return fmt.Errorf("--data-dir %q is not empty, it holds %q; choose a new directory", path, entries[0].Name())
	}
	given, expected := file, trust.expected(file)
	if file == "-" {
		// The backup is checked before it is used, and the check needs a file.
		var saveErr error
		file, _, saveErr = saveNextTo(in, path)
		defer func() { err = errors.Join(err, os.RemoveAll(file)) }()
		if saveErr != nil {
			return fmt.Errorf("saving standard input to a file: %w", saveErr)
		}
	}
	found, err := signature.Inspect(file, expected, trust.Keys)
	if err != nil {
		return fmt.Errorf("--from %q is not a backup that can be restored: %w", given, err)
	}
	if err := trust.accept(given, found, messages); err != nil {
		return err
	}
	if err := restoreInto(ctx, path, file, found, func(ctx context.Context, etcd *clientv3.Client) error {
		// This version must be able to serve it.
		return guard.CheckFormat(ctx, etcd, backend.Prefix)
	}); err != nil {
		return fmt.Errorf("restoring --from %q: %w", given, err)
	}
	_, err = fmt.Fprintf(messages,
		"restored into %s; start the server with --data-dir=%s, and accept the store with the command that it then prints\n", path, path)
	return err
}

// expected is the expected name of a backup, empty if it has no name.
func (t Trust) expected(file string) string {
	if t.Name != "" || file == "-" {
		return t.Name
	}
	return filepath.Base(file)
}

// accept refuses a backup that is not verified, unless the operator allows it.
func (t Trust) accept(file string, found signature.Snapshot, messages io.Writer) (err error) {
	switch {
	case found.Unverified == nil:
		_, err = fmt.Fprintf(messages, "verified: %s\n", found.Origin)
	case t.Unauthenticated:
		_, err = fmt.Fprintf(messages, "warning: %v\n", found.Unverified)
	default:
		err = fmt.Errorf("--from %q is not authenticated: %w; if you know where it comes from, restore it with --accept-unauthenticated", file,
			found.Unverified)
	}
	return err
}

// restoreInto creates a data directory from a backup, if check accepts the etcd that then runs on
// it.
func restoreInto(ctx context.Context, path, file string, found signature.Snapshot,
	check func(context.Context, *clientv3.Client) error) error {
	dir, err := embedded.OpenDir(path)
	if err != nil {
		return err
	}
	fill := func(database string) error { return copyDatabase(found, file, database) }
	return dir.Restore(ctx, fill, func(ctx context.Context, endpoint string) error {
		client, err := clientv3.New(clientv3.Config{Endpoints: []string{endpoint}, Logger: zap.NewNop()})
		if err != nil {
			return err
		}
		return errors.Join(check(ctx, client), client.Close())
	})
}

func copyDatabase(found signature.Snapshot, from, to string) error {
	if err := os.MkdirAll(filepath.Dir(to), fileutil.PrivateDirMode); err != nil {
		return err
	}
	copied, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, fileutil.PrivateFileMode)
	if err != nil {
		return err
	}
	return errors.Join(found.CopyDatabase(copied, from), copied.Sync(), copied.Close())
}
