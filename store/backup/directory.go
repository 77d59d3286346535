// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package backup

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"path/filepath"
)

// Place stores copies. Its functions must not be called for two files with the same name at the
// same time.
type Place interface {
	// List returns the names of all files, including those that are no copies, in no particular
	// order.
	List(ctx context.Context) ([]string, error)
	// Put writes a new file of a known size.
	Put(ctx context.Context, name string, from io.Reader, size int64) error
	// Get reads a file.
	Get(ctx context.Context, name string, to io.Writer) error
	// Rename renames a file to a name that does not exist yet.
	Rename(ctx context.Context, from, to string) error
	// Remove removes a file. The file may not exist any more.
	Remove(ctx context.Context, name string) error
}

// Directory is a place in the file system.
type Directory struct{ path string }

// OpenDirectory opens the directory of a URL such as file:///backups. The directory must exist:
// creating it would hide that a volume is not mounted.
func OpenDirectory(at *url.URL) (*Directory, error) {
	if at.Host != "" || !filepath.IsAbs(at.Path) || at.RawQuery != "" {
		return nil, fmt.Errorf("%q: must be file:/// and an absolute path", at.Redacted())
	}
	info, err := os.Stat(at.Path) //nolint:gosec // the operator who starts the server chooses the directory
	if err != nil {
		return nil, fmt.Errorf("%q: %w", at.Redacted(), err)
	}
	if !info.IsDir() {
		return nil, fmt.Errorf("%q: it is not a directory", at.Redacted())
	}
	return &Directory{at.Path}, nil
}

// List returns the names of all files.
func (d *Directory) List(context.Context) ([]string, error) {
	entries, err := os.ReadDir(d.path)
	if err != nil {
		return nil, err
	}
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names, nil
}

// Put returns when the file is on disk.
func (d *Directory) Put(ctx context.Context, name string, from io.Reader, _ int64) error {
	file, err := os.OpenFile(d.file(name), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(file, untilDone{ctx, from})
	return errors.Join(err, file.Sync(), file.Close(), d.sync())
}

// Get reads the file.
func (d *Directory) Get(ctx context.Context, name string, to io.Writer) error {
	file, err := os.Open(d.file(name))
	if err != nil {
		return err
	}
	_, err = io.Copy(to, untilDone{ctx, file})
	return errors.Join(err, file.Close())
}

// Rename returns when the name is on disk.
func (d *Directory) Rename(_ context.Context, from, to string) error {
	return errors.Join(os.Rename(d.file(from), d.file(to)), d.sync())
}

// Remove removes the file.
func (d *Directory) Remove(_ context.Context, name string) error {
	err := os.Remove(d.file(name))
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	return err
}

func (d *Directory) file(name string) string { return filepath.Join(d.path, name) }

// sync writes the directory entries to disk.
func (d *Directory) sync() error {
	dir, err := os.Open(d.path)
	if err != nil {
		return err
	}
	return errors.Join(dir.Sync(), dir.Close())
}

// untilDone reads until a context ends.
type untilDone struct {
	ctx  context.Context
	from io.Reader
}

func (r untilDone) Read(p []byte) (int, error) {
	if err := r.ctx.Err(); err != nil {
		return 0, err
	}
	return r.from.Read(p)
}
